import { BoundedCache } from '@weir/domain/bounded-cache';

const NAME = /^[A-Za-z][A-Za-z0-9_+-]*(?:\/[A-Za-z0-9_+-]+){0,2}$/;
const CHARS_MAX = 64;
const NAMES_MAX = 1_000;

/**
 * The time zone that the page's script says, as JSON; undefined where it names none. It wins over the place's: the browser
 * knows where its clock is, and an address only where its network is, which a VPN, a phone's or a company's may have elsewhere.
 */
export function createTimezones(): (sent: string) => string | undefined {
  const cache = new BoundedCache<string>(NAMES_MAX);
  return (sent) => {
    if (sent === '') return undefined;
    let json = cache.get(sent);
    if (json === undefined) {
      json = isZone(sent) ? `"${sent}"` : '';
      cache.set(sent, json);
    }
    return json === '' ? undefined : json;
  };
}

/** A name of the IANA data that this Node knows, aliases included: what ClickHouse could not convert to is no zone. */
function isZone(name: string): boolean {
  if (name.length > CHARS_MAX || !NAME.test(name)) return false;
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    // A RangeError is how Intl says that it knows no such zone; it has no other way to ask.
    return false;
  }
}
