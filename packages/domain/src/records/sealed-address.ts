import { createCipheriv, createHmac } from 'node:crypto';
import { BoundedCache } from '../bounded-cache.ts';
import { addressText, addressWords, WORDS_MAX } from '../net/address-words.ts';

/**
 * A client IP as a raw record contains it: encrypted with a key of the day, so that no disk ever contains it in plain text.
 *
 *   "1" | base64url(key ID, 6 bytes | nonce, 9 bytes) | counter | the address XORed with the keystream: 1 word (IPv4) or 4 (IPv6)
 *
 * A word of 32 bits is written as 6 characters of base64url, of which the last 4 bits are zero. The keystream is AES-256-CTR with the IV
 * `nonce | 3 zero bytes | counter`, and has one block for each address. It is computed for many addresses at once, because a
 * cipher object for each would cost several microseconds. Each sealer has a random nonce and uses each counter once, so no block
 * is used twice. The key is derived from the salt of the day (docs/glossary.md): removing the salt destroys the key.
 */
const VERSION = '1';
const KEY_ID_BYTES = 6;
const NONCE_BYTES = 9;
const KEY_ID_CHARS = (KEY_ID_BYTES * 4) / 3;
const NONCE_END = 1 + KEY_ID_CHARS + (NONCE_BYTES * 4) / 3;
const WORD_CHARS = 6;
const ADDRESS_AT = NONCE_END + WORD_CHARS;
const IPV4_CHARS = ADDRESS_AT + WORD_CHARS;
const IPV6_CHARS = ADDRESS_AT + WORDS_MAX * WORD_CHARS;

const BLOCK_BYTES = 16;
const COUNTER_AT = 12;
const COUNTER_END = 2 ** 32;
/** A keystream is computed in windows of this many blocks. A window has 16 KiB. */
const WINDOW_BLOCKS = 1024;
const ZEROS = Buffer.alloc(WINDOW_BLOCKS * BLOCK_BYTES);
/** The size of an opener's cache of windows. A `BoundedCache` holds at most twice its size: 256 windows, 4 MiB. */
const WINDOWS_MAX = 128;
const KEYS_MAX = 8;

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
const CODES = Buffer.from(ALPHABET);
const SIX_BITS = new Int8Array(128).fill(-1);
for (let bits = 0; bits < ALPHABET.length; bits++) SIX_BITS[ALPHABET.charCodeAt(bits)] = bits;

interface DayKey {
  readonly id: Buffer;
  readonly idText: string;
  readonly secret: Buffer;
}

function dayKeyOf(salt: string): DayKey {
  const derived = (purpose: string): Buffer =>
    createHmac('sha256', Buffer.from(salt, 'hex')).update(`weir sealed address: ${purpose}`).digest();
  const id = derived('key ID').subarray(0, KEY_ID_BYTES);
  return { id, idText: id.toString('base64url'), secret: derived('key') };
}

function keystream(key: DayKey, nonce: Uint8Array, firstBlock: number): DataView {
  const iv = Buffer.alloc(BLOCK_BYTES);
  iv.set(nonce);
  iv.writeUInt32BE(firstBlock, COUNTER_AT);
  const bytes = createCipheriv('aes-256-ctr', key.secret, iv).update(ZEROS);
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** Encrypts a normalised address with the key of one day. Returns an empty text if `ip` is not an address. */
export type SealAddress = (ip: string) => string;

/** `salt`: the salt of the day, in hex. `randomBytes`: must be cryptographically random. It makes a nonce that no other sealer has. */
export function createSealAddress(salt: string, randomBytes: (length: number) => Uint8Array): SealAddress {
  const key = dayKeyOf(salt);
  const words = new Uint32Array(WORDS_MAX);
  /** Each sealed address is written into this buffer as ASCII. One conversion costs less than joining the strings of 5 words. */
  const text = Buffer.alloc(IPV6_CHARS);
  let nonce: Uint8Array = new Uint8Array(NONCE_BYTES);
  let stream: DataView = new DataView(ZEROS.buffer);
  let counter = COUNTER_END;

  function nextWindow(): void {
    if (counter === COUNTER_END) {
      nonce = randomBytes(NONCE_BYTES);
      text.write(VERSION + Buffer.concat([key.id, nonce]).toString('base64url'), 'latin1');
      counter = 0;
    }
    stream = keystream(key, nonce, counter);
  }

  return (ip) => {
    const count = addressWords(ip, words);
    if (count === 0) return '';
    if (counter % WINDOW_BLOCKS === 0) nextWindow();
    writeWord(text, NONCE_END, counter);
    const at = (counter % WINDOW_BLOCKS) * BLOCK_BYTES;
    for (let i = 0; i < count; i++) {
      writeWord(text, ADDRESS_AT + WORD_CHARS * i, (words[i] as number) ^ stream.getUint32(at + 4 * i));
    }
    counter += 1;
    return text.toString('latin1', 0, count === 1 ? IPV4_CHARS : IPV6_CHARS);
  };
}

function writeWord(text: Buffer, at: number, word: number): void {
  text[at] = CODES[word >>> 26] as number;
  text[at + 1] = CODES[(word >>> 20) & 63] as number;
  text[at + 2] = CODES[(word >>> 14) & 63] as number;
  text[at + 3] = CODES[(word >>> 8) & 63] as number;
  text[at + 4] = CODES[(word >>> 2) & 63] as number;
  text[at + 5] = CODES[(word & 3) << 4] as number;
}

/** True if a text has the form of a sealed address. */
export function isSealedAddress(text: string): boolean {
  return (text.length === IPV4_CHARS || text.length === IPV6_CHARS) && text.startsWith(VERSION);
}

/**
 * Decrypts an address that was sealed with `salt`; the result is normalised. Empty if the salt was removed or is not the one with
 * which the address was sealed: then the address can no longer be read. Never throws. `sealed`: a text that `isSealedAddress` accepts.
 */
export type OpenAddress = (sealed: string, salt: string | undefined) => string;

export function createOpenAddress(): OpenAddress {
  const keys = new BoundedCache<DayKey>(KEYS_MAX);
  const windows = new BoundedCache<DataView>(WINDOWS_MAX);
  const words = new Uint32Array(WORDS_MAX);
  let lastSalt = '';
  let lastKey: DayKey | undefined;
  let lastPrefix = '';
  let lastIndex = -1;
  let lastWindow: DataView = new DataView(ZEROS.buffer);

  function keyOf(salt: string): DayKey {
    if (salt === lastSalt && lastKey !== undefined) return lastKey;
    let key = keys.get(salt);
    if (key === undefined) {
      key = dayKeyOf(salt);
      keys.set(salt, key);
    }
    lastSalt = salt;
    lastKey = key;
    return key;
  }

  function windowOf(key: DayKey, sealed: string, index: number): DataView {
    if (index === lastIndex && sealed.startsWith(lastPrefix)) return lastWindow;
    lastPrefix = sealed.slice(0, NONCE_END);
    lastIndex = index;
    const id = lastPrefix + index;
    let window = windows.get(id);
    if (window === undefined) {
      const nonce = Buffer.from(sealed.slice(1 + KEY_ID_CHARS, NONCE_END), 'base64url');
      window = keystream(key, nonce.subarray(0, NONCE_BYTES), index * WINDOW_BLOCKS);
      windows.set(id, window);
    }
    lastWindow = window;
    return window;
  }

  return (sealed, salt) => {
    if (salt === undefined) return '';
    const key = keyOf(salt);
    if (!sealed.startsWith(key.idText, 1)) return '';
    const counter = wordAt(sealed, NONCE_END);
    if (counter < 0) return '';
    const window = windowOf(key, sealed, Math.floor(counter / WINDOW_BLOCKS));
    const at = (counter % WINDOW_BLOCKS) * BLOCK_BYTES;
    const count = (sealed.length - ADDRESS_AT) / WORD_CHARS;
    for (let i = 0; i < count; i++) {
      const word = wordAt(sealed, ADDRESS_AT + WORD_CHARS * i);
      if (word < 0) return '';
      words[i] = word ^ window.getUint32(at + 4 * i);
    }
    return addressText(words, count);
  };
}

/** Returns the word at a position; -1 if one of its characters is not in the alphabet. */
function wordAt(text: string, at: number): number {
  let upper = 0;
  for (let i = 0; i < WORD_CHARS - 1; i++) upper = (upper << 6) | sixBits(text.charCodeAt(at + i));
  const last = sixBits(text.charCodeAt(at + WORD_CHARS - 1));
  return upper < 0 || last < 0 ? -1 : upper * 4 + (last >> 4);
}

function sixBits(code: number): number {
  return code < 128 ? (SIX_BITS[code] as number) : -1;
}
