const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));
const RANDOM_BYTES = 8;
const POOL_IDS = 512;

/**
 * Returns a function that makes UUIDv7s (RFC 9562). The IDs of one function always increase: the 12 bits after the time are a
 * counter, and if the counter overflows or the clock goes back, the time in the ID runs ahead of the clock.
 */
export function createEventIds(clock: () => number, fillRandom: (bytes: Uint8Array) => unknown): () => string {
  const pool = new Uint8Array(RANDOM_BYTES * POOL_IDS);
  let at = pool.length;
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
    if (at === pool.length) {
      fillRandom(pool);
      at = 0;
    }
    const id = `${timeText}-7${HEX[counter >> 8]?.[1]}${HEX[counter & 0xff]}-${variant(pool[at])}${hex(pool, at + 1)}-${hex(pool, at + 2)}${hex(pool, at + 3)}${hex(pool, at + 4)}${hex(pool, at + 5)}${hex(pool, at + 6)}${hex(pool, at + 7)}`;
    at += RANDOM_BYTES;
    return id;
  };
}

function timeTextOf(ms: number): string {
  const text = ms.toString(16).padStart(12, '0');
  return `${text.slice(0, 8)}-${text.slice(8)}`;
}

function variant(byte: number | undefined): string {
  return HEX[((byte ?? 0) & 0x3f) | 0x80] ?? '';
}

function hex(pool: Uint8Array, index: number): string {
  return HEX[pool[index] ?? 0] ?? '';
}
