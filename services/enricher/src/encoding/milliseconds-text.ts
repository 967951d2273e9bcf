const LOW = 1_000_000;
const LOW_DIGITS = 6;

/**
 * Returns a time in Unix milliseconds as text. The result is that of `String`. V8 writes whole numbers of up to 31 bits three times as fast as
 * larger ones, so the text is made from two such numbers.
 */
export function timeText(ms: number): string {
  const high = Math.floor(ms / LOW);
  if (high < 1 || high > LOW * 1000 || !Number.isInteger(ms)) return String(ms);
  const low = ms - high * LOW;
  return low >= LOW / 10 ? `${high}${low}` : `${high}${String(low).padStart(LOW_DIGITS, '0')}`;
}
