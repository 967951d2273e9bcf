import { knownZone } from './known-zone.ts';

/** Numbers, shares and times in the language of the reader. */
export interface Formats {
  number(value: number): string;
  /** A short form with at most three significant digits: 12.3K. All digits if the language has no short form: 12345 is 12.345 in German. */
  compact(value: number): string;
  /** A share from 0 to 1. */
  percent(share: number): string;
  /** A change with its sign: +12 %. */
  change(share: number): string;
  decimal(value: number): string;
  /** Seconds as minutes and seconds, or as hours and minutes from one hour on: `2m 5s`, `1h 2m`. */
  duration(seconds: number): string;
  /** A length of time such as 30m, 24h or 7d, in words. Other texts stay as they are. */
  span(text: string): string;
  /** An amount of money, with all its digits. Returns both texts unchanged if `amount` is no decimal number or `currency` no currency code. */
  money(amount: string, currency: string): string;
  bytes(value: number): string;
  /** A moment in a time zone. The parts depend on `detail`. */
  time(moment: string | number, zone: string | undefined, detail: TimeDetail): string;
  country(code: string): string;
  tongue(code: string): string;
}

export type TimeDetail = 'hour' | 'day' | 'month' | 'clock' | 'full' | 'wholeHour' | 'week';

const DETAILS: Readonly<Record<TimeDetail, Intl.DateTimeFormatOptions>> = {
  clock: { hour: '2-digit', minute: '2-digit' },
  hour: { weekday: 'short', day: 'numeric', month: 'short', year: 'numeric', hour: '2-digit', minute: '2-digit' },
  day: { weekday: 'short', day: 'numeric', month: 'short', year: 'numeric' },
  wholeHour: { day: 'numeric', month: 'short', year: 'numeric', hour: 'numeric' },
  week: { day: 'numeric', month: 'short', year: 'numeric' },
  month: { month: 'long', year: 'numeric' },
  full: { dateStyle: 'medium', timeStyle: 'medium' },
};

/** A decimal number. The capture group contains its fraction without trailing zeros. */
const DECIMAL = /^-?\d+(?:\.(\d*?)0*)?$/;
/** The most digits that all supported browsers write after the decimal separator. */
const FRACTION_DIGITS_MAX = 20;

const SPAN_UNITS: Readonly<Record<string, string>> = { s: 'second', m: 'minute', h: 'hour', d: 'day' };

export function createFormats(language: string): Formats {
  const number = new Intl.NumberFormat(language);
  const compact = new Intl.NumberFormat(language, { notation: 'compact', maximumSignificantDigits: 3 });
  const percent = new Intl.NumberFormat(language, { style: 'percent', maximumFractionDigits: 1 });
  const change = new Intl.NumberFormat(language, {
    style: 'percent',
    maximumFractionDigits: 0,
    signDisplay: 'exceptZero',
  });
  const decimal = new Intl.NumberFormat(language, { maximumFractionDigits: 2 });
  const countries = new Intl.DisplayNames(language, { type: 'region', fallback: 'code' });
  const languages = new Intl.DisplayNames(language, { type: 'language', fallback: 'code' });
  const times = new Map<string, Intl.DateTimeFormat>();
  return {
    number: (value) => number.format(value),
    compact(value) {
      const parts = compact.formatToParts(value);
      // If the language has no short form of the number, `compact` would only round it, and the result would look exact. So all digits are shown.
      return (parts.some(({ type }) => type === 'compact') ? compact : number).format(value);
    },
    percent: (share) => percent.format(share),
    change: (share) => change.format(share),
    decimal: (value) => decimal.format(value),
    duration(seconds) {
      const whole = Math.round(seconds);
      const [hours, minutes] = [Math.floor(whole / 3600), Math.floor((whole % 3600) / 60)];
      return hours > 0 ? `${hours}h ${minutes}m` : `${minutes}m ${whole % 60}s`;
    },
    span(text) {
      const [, count, letter] = /^(\d+)([smhd])$/.exec(text) ?? [];
      const unit = letter && SPAN_UNITS[letter];
      return unit
        ? new Intl.NumberFormat(language, { style: 'unit', unit, unitDisplay: 'long' }).format(Number(count))
        : text;
    },
    money(amount, currency) {
      // A server event can have any text as its amount and as its currency.
      const [, fraction = ''] = DECIMAL.exec(amount) ?? [];
      if (!DECIMAL.test(amount) || !/^[A-Za-z]{3}$/.test(currency)) return `${amount} ${currency}`.trim();
      const style = { style: 'currency', currency } as const;
      const digits = new Intl.NumberFormat(language, style).resolvedOptions().maximumFractionDigits ?? 0;
      const maximumFractionDigits = Math.min(FRACTION_DIGITS_MAX, Math.max(digits, fraction.length));
      // `format` gets a text, because a number would round a long amount.
      return new Intl.NumberFormat(language, { ...style, maximumFractionDigits }).format(amount as `${number}`);
    },
    bytes(value) {
      const step = value === 0 ? 0 : Math.min(4, Math.floor(Math.log2(value) / 10));
      return `${decimal.format(value / 1024 ** step)} ${['B', 'KiB', 'MiB', 'GiB', 'TiB'][step]}`;
    },
    time(moment, zone, detail) {
      const key = `${zone} ${detail}`;
      const format =
        times.get(key) ??
        new Intl.DateTimeFormat(language, { ...DETAILS[detail], ...(zone && { timeZone: knownZone(zone) }) });
      times.set(key, format);
      return format.format(new Date(moment));
    },
    country: (code) => nameOf(countries, code),
    tongue: (code) => nameOf(languages, code),
  };
}

/** Returns the name of a country or language. Returns the code itself if it is not a valid code, for which `names.of` throws. */
function nameOf(names: Intl.DisplayNames, code: string): string {
  try {
    return names.of(code) ?? code;
  } catch (error) {
    if (error instanceof RangeError) return code;
    throw error;
  }
}
