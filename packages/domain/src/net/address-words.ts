/** An IPv4 address has one word of 32 bits, an IPv6 address has four. */
export const WORDS_MAX = 4;

const GROUPS = 8;
const ZERO = 48;
const NINE = 57;
const LOWER_A = 97;
const LOWER_F = 102;
const DOT = 46;
const COLON = 58;
const HEX = Buffer.from('0123456789abcdef');
const DECIMAL = Array.from({ length: 256 }, (_, byte) => String(byte));
const IPV6_CHARS_MAX = 39;

/**
 * Writes a normalised address (`normalizeIp`) as words. Returns the number of words: 1 or 4, or 0 if the text is not such an address.
 * This runs for each request, so it does not use `ipaddr.js`, which needs several microseconds for IPv6.
 */
export function addressWords(ip: string, into: Uint32Array): number {
  if (ip === '') return 0;
  return ip.includes(':') ? ipv6Words(ip, into) : ipv4Word(ip, into);
}

/** Converts the words that `addressWords` wrote into text again, in the spelling of `normalizeIp`. */
export function addressText(words: Uint32Array, count: number): string {
  return count === 1 ? ipv4Text(words[0] as number) : ipv6Text(words);
}

function ipv4Word(ip: string, into: Uint32Array): number {
  let word = 0;
  let value = 0;
  let digits = 0;
  let dots = 0;
  for (let i = 0; i < ip.length; i++) {
    const code = ip.charCodeAt(i);
    if (code >= ZERO && code <= NINE) {
      value = value * 10 + code - ZERO;
      digits += 1;
      if (digits > 3 || value > 255) return 0;
    } else {
      if (code !== DOT || digits === 0) return 0;
      dots += 1;
      word = (word << 8) | value;
      value = 0;
      digits = 0;
    }
  }
  if (digits === 0 || dots !== 3) return 0;
  into[0] = (word << 8) | value;
  return 1;
}

const groups = new Uint16Array(GROUPS);

function ipv6Words(ip: string, into: Uint32Array): number {
  let count = 0;
  let gap = -1;
  let value = 0;
  let digits = 0;
  for (let i = 0; i < ip.length; i++) {
    const code = ip.charCodeAt(i);
    if (code === COLON) {
      if (digits > 0) {
        if (count === GROUPS) return 0;
        groups[count++] = value;
        value = 0;
        digits = 0;
      }
      if (ip.charCodeAt(i + 1) === COLON) {
        if (gap >= 0) return 0;
        gap = count;
        i += 1;
      }
    } else {
      const digit = hexDigit(code);
      digits += 1;
      if (digit < 0 || digits > 4) return 0;
      value = value * 16 + digit;
    }
  }
  if (digits > 0) {
    if (count === GROUPS) return 0;
    groups[count++] = value;
  }
  if (gap < 0 ? count !== GROUPS : count === GROUPS) return 0;
  if (gap >= 0) {
    // Uses loops, because calls of `copyWithin` or `fill` cost more for so few groups.
    const zeros = GROUPS - count;
    for (let i = GROUPS - 1; i >= gap + zeros; i--) groups[i] = groups[i - zeros] as number;
    for (let i = gap; i < gap + zeros; i++) groups[i] = 0;
  }
  for (let i = 0; i < WORDS_MAX; i++) {
    into[i] = ((groups[2 * i] as number) << 16) | (groups[2 * i + 1] as number);
  }
  return WORDS_MAX;
}

function hexDigit(code: number): number {
  if (code >= ZERO && code <= NINE) return code - ZERO;
  return code >= LOWER_A && code <= LOWER_F ? code - LOWER_A + 10 : -1;
}

function ipv4Text(word: number): string {
  const bytes = `${DECIMAL[word >>> 24]}.${DECIMAL[(word >>> 16) & 255]}.`;
  return `${bytes}${DECIMAL[(word >>> 8) & 255]}.${DECIMAL[word & 255]}`;
}

const text = Buffer.alloc(IPV6_CHARS_MAX);

/** Uses the spelling of `ipaddr.js`: the first run of zero groups is left out, also if it is not the longest run. */
function ipv6Text(words: Uint32Array): string {
  let length = 0;
  let state: 'before' | 'within' | 'after' = 'before';
  for (let i = 0; i < GROUPS; i++) {
    const word = words[i >> 1] as number;
    const group = i % 2 === 0 ? word >>> 16 : word & 0xffff;
    if (group === 0 && state !== 'after') {
      if (state === 'before') {
        text[length++] = COLON;
        text[length++] = COLON;
      }
      state = 'within';
      continue;
    }
    if (state === 'within') state = 'after';
    else if (i > 0) text[length++] = COLON;
    if (group > 0xfff) text[length++] = HEX[group >> 12] as number;
    if (group > 0xff) text[length++] = HEX[(group >> 8) & 15] as number;
    if (group > 0xf) text[length++] = HEX[(group >> 4) & 15] as number;
    text[length++] = HEX[group & 15] as number;
  }
  return text.toString('latin1', 0, length);
}
