const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

/**
 * Returns a function that makes UUIDv7s (RFC 9562). The IDs of one function always increase: the 12 bits after the time are a
 * counter, and if the counter overflows or the clock goes back, the time in the ID runs ahead of the clock. The other 62 bits are random, but
 * the same in all IDs of one function, so that a column of IDs compresses well (docs/decisions/0061). They differ between functions.
 */
export function createEventIds(clock: () => number, fillRandom: (bytes: Uint8Array) => unknown): () => string {
  const end = endTextOf(fillRandom);
  let lastMs = -1;
  let counter = 0;
  let timeText = '';
  return () => {
    const now = clock();
    if (now > lastMs) {
      lastMs = now;
      counter = 0;
      timeText = timeTextOf(now);
    } else {
      counter += 1;
      if (counter > 0xfff) {
        lastMs += 1;
        counter = 0;
        timeText = timeTextOf(lastMs);
      }
    }
    return `${timeText}-7${HEX[counter >> 8]?.[1]}${HEX[counter & 0xff]}${end}`;
  };
}

function timeTextOf(ms: number): string {
  const text = ms.toString(16).padStart(12, '0');
  return `${text.slice(0, 8)}-${text.slice(8)}`;
}

/** The last two groups of an ID: the variant in two bits, and 62 random bits. */
function endTextOf(fillRandom: (bytes: Uint8Array) => unknown): string {
  const bytes = new Uint8Array(8);
  fillRandom(bytes);
  bytes[0] = ((bytes[0] ?? 0) & 0x3f) | 0x80;
  const text = Array.from(bytes, (byte) => HEX[byte]).join('');
  return `-${text.slice(0, 4)}-${text.slice(4)}`;
}
