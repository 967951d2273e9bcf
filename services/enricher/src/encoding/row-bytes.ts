const SLAB_BYTES = 256 * 1024;
const BYTES_PER_CHAR_MAX = 3;

/**
 * Returns a function that encodes rows as UTF-8, one after the other, into large shared buffers. Buffer.from reads each text twice and
 * allocates a new pool for every ten rows, which took 7 % of the CPU time of the enrichment. `encodeInto` takes half the time of
 * `Buffer.write` for a text that was joined from many parts.
 */
export function createRowBytes(): (row: string) => Buffer {
  const encoder = new TextEncoder();
  let slab = Buffer.alloc(0);
  let end = 0;
  return (row) => {
    const bytesMax = row.length * BYTES_PER_CHAR_MAX;
    if (bytesMax > SLAB_BYTES) return Buffer.from(row);
    if (end + bytesMax > slab.length) {
      slab = Buffer.allocUnsafeSlow(SLAB_BYTES);
      end = 0;
    }
    const start = end;
    end += encoder.encodeInto(row, slab.subarray(start)).written;
    return slab.subarray(start, end);
  };
}
