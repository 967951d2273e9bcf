import { BoundedCache } from '@weir/domain/bounded-cache';
import { timezoneName } from '@weir/domain/registry/time-zone';

const CHARS_MAX = 64;
const NAMES_MAX = 1_000;

/**
 * Returns a function that takes the time zone that the page's script sent, and returns it as JSON, or undefined if it is invalid. A valid time zone
 * has priority over that of the client IP, because the network of a VPN, a phone or a company can be in another time zone than the browser.
 */
export function createTimezones(): (sent: string) => string | undefined {
  const cache = new BoundedCache<string>(NAMES_MAX);
  return (sent) => {
    // A longer text is not the name of a time zone, and must not fill the cache.
    if (sent === '' || sent.length > CHARS_MAX) return undefined;
    let json = cache.get(sent);
    if (json === undefined) {
      const name = timezoneName(sent);
      json = name === undefined ? '' : `"${name}"`;
      cache.set(sent, json);
    }
    return json === '' ? undefined : json;
  };
}
