import { BoundedCache } from '@weir/domain/bounded-cache';

const NAME = /^[A-Za-z][A-Za-z0-9_+-]*(?:\/[A-Za-z0-9_+-]+){0,2}$/;
/** Each part of the name begins with a capital letter. */
const ALIAS = /^[A-Z][^/]*(?:\/[A-Z][^/]*)*$/;
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
    // Longer texts must not fill the cache.
    if (sent === '' || sent.length > CHARS_MAX) return undefined;
    let json = cache.get(sent);
    if (json === undefined) {
      const name = zoneOf(sent);
      json = name === undefined ? '' : `"${name}"`;
      cache.set(sent, json);
    }
    return json === '' ? undefined : json;
  };
}

/**
 * The name of a time zone as the IANA data writes it, or undefined if Node's data does not have it. ClickHouse cannot convert times to a time
 * zone with an unknown name, and it distinguishes upper and lower case.
 */
function zoneOf(sent: string): string | undefined {
  if (!NAME.test(sent)) return undefined;
  let name: string;
  try {
    name = new Intl.DateTimeFormat('en', { timeZone: sent }).resolvedOptions().timeZone;
  } catch {
    // Intl throws a RangeError for an unknown time zone, and has no other way to check a name.
    return undefined;
  }
  if (name.toLowerCase() === sent.toLowerCase()) return name;
  // `sent` is another name of the zone, such as Europe/Kyiv for Europe/Kiev. Intl does not return the IANA spelling of such a name.
  return ALIAS.test(sent) ? sent : undefined;
}
