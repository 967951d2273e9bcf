import { normalizeIp } from '@weir/domain/ip-address';

/**
 * What proxies say of whom they spoke to, the last proxy's claim first. Read from the right and only as far as asked: what
 * stands further left may be the client's own invention, quotes that never close included. Empty: not an address.
 */
export type ReadClaims = (header: string) => Iterable<string>;

/** `X-Forwarded-For`: addresses with commas between. */
export function* xForwardedForClaims(header: string): Generator<string> {
  let end = header.length;
  while (end >= 0) {
    const comma = end === 0 ? -1 : header.lastIndexOf(',', end - 1);
    const entry = header.slice(comma + 1, end).trim();
    // RFC 9110, 5.6.1: empty elements of a list count for nothing.
    if (entry !== '') yield claimedAddress(entry);
    end = comma;
  }
}

/** RFC 7239 `Forwarded`: `for=192.0.2.60;proto=http, for="[2001:db8::1]:4711"`. */
export function* forwardedClaims(header: string): Generator<string> {
  for (const element of fromTheRight(header, ',')) {
    const entry = element.trim();
    if (entry !== '') yield forOf(entry);
  }
}

function forOf(element: string): string {
  let found = '';
  for (const pair of fromTheRight(element, ';')) {
    const equals = pair.indexOf('=');
    if (equals < 0 || pair.slice(0, equals).trim().toLowerCase() !== 'for') continue;
    // A parameter may stand once in an element; one with two tells nothing that can be relied on.
    if (found !== '') return '';
    found = pair.slice(equals + 1).trim();
  }
  const quoted = /^"((?:[^"\\]|\\.)*)"$/.exec(found);
  return claimedAddress(quoted?.[1] === undefined ? found : quoted[1].replace(/\\(.)/g, '$1'));
}

/** The parts between separators that stand outside of quotes, the last one first. */
function* fromTheRight(text: string, separator: string): Generator<string> {
  let end = text.length;
  let inQuotes = false;
  for (let at = text.length - 1; at >= 0; at -= 1) {
    const char = text[at];
    if (char === '"' && !isEscaped(text, at)) inQuotes = !inQuotes;
    else if (char === separator && !inQuotes) {
      yield text.slice(at + 1, end);
      end = at;
    }
  }
  yield text.slice(0, end);
}

function isEscaped(text: string, at: number): boolean {
  let slashes = 0;
  while (text[at - 1 - slashes] === '\\') slashes += 1;
  return slashes % 2 === 1;
}

/** An address as proxies write it: some add the port, and put IPv6 in brackets. Empty for `unknown`, `_hidden` and anything else. */
export function claimedAddress(text: string): string {
  const bracketed = /^\[([^\]]+)\](?::[\w.-]+)?$/.exec(text);
  if (bracketed?.[1] !== undefined) return bracketed[1].includes(':') ? normalizeIp(bracketed[1]) : '';
  const withPort = /^([\d.]+):[\w.-]+$/.exec(text);
  return normalizeIp(withPort?.[1] ?? text);
}
