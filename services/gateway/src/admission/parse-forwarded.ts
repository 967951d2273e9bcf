import { normalizeIp } from '@weir/domain/net/ip-address';

/**
 * Returns the client addresses that proxies report in a header. The address from the last proxy comes first. The header is read
 * from the right, one entry at a time: a client can invent the left part, and an unclosed quote there must not hide later entries.
 * An entry that is not an address gives an empty string.
 */
export type ReadClaims = (header: string) => Iterable<string>;

/** Reads `X-Forwarded-For`: addresses separated by commas. */
export function* xForwardedForClaims(header: string): Generator<string> {
  let end = header.length;
  while (end >= 0) {
    const comma = end === 0 ? -1 : header.lastIndexOf(',', end - 1);
    const entry = header.slice(comma + 1, end).trim();
    // RFC 9110, 5.6.1: empty elements of a list are ignored.
    if (entry !== '') yield claimedAddress(entry);
    end = comma;
  }
}

/** Reads the header `Forwarded` of RFC 7239: `for=192.0.2.60;proto=http, for="[2001:db8::1]:4711"`. */
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
    // RFC 7239, section 4: a parameter may occur once per element. An element with two `for` parameters counts as no address.
    if (found !== '') return '';
    found = pair.slice(equals + 1).trim();
  }
  const quoted = /^"((?:[^"\\]|\\.)*)"$/.exec(found);
  return claimedAddress(quoted?.[1] === undefined ? found : quoted[1].replace(/\\(.)/g, '$1'));
}

/** The parts of a text between separators, starting with the last part. Separators inside quotes do not count. */
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

/**
 * Removes the port and the brackets that proxies may write around an address. The result is empty for `unknown`, `_hidden` and
 * other texts.
 */
export function claimedAddress(text: string): string {
  const bracketed = /^\[([^\]]+)\](?::[\w.-]+)?$/.exec(text);
  if (bracketed?.[1] !== undefined) return bracketed[1].includes(':') ? normalizeIp(bracketed[1]) : '';
  const withPort = /^([\d.]+):[\w.-]+$/.exec(text);
  return normalizeIp(withPort?.[1] ?? text);
}
