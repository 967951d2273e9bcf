import { BoundedCache } from '@weir/domain/bounded-cache';

const NAME = /^[A-Za-z][A-Za-z0-9_+-]*(?:\/[A-Za-z0-9_+-]+){0,2}$/;
const CHARS_MAX = 64;
const NAMES_MAX = 1_000;

/**
 * Returns a function that takes the time zone that the page's script sent, and returns it as JSON, or undefined if it is invalid. A valid
 * time zone wins over that of the client IP, because the network of a VPN, a phone or a company can be in another time zone than the
 * browser.
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

/** Whether Node's IANA data has the name. ClickHouse cannot convert times to a time zone with an unknown name. */
function isZone(name: string): boolean {
  if (name.length > CHARS_MAX || !NAME.test(name)) return false;
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    // Intl throws a RangeError for an unknown time zone, and has no other way to check a name.
    return false;
  }
}
