const SLAB_BYTES = 256 * 1024;
const BYTES_PER_CHAR_MAX = 3;

/**
 * Encodes lines side by side into slabs. Buffer.from walks a text twice and makes a new pool every ten lines: 7 % of what the
 * whole step cost.
 */
export function createLineBytes(): (line: string) => Buffer {
  let slab = Buffer.alloc(0);
  let end = 0;
  return (line) => {
    const bytesMax = line.length * BYTES_PER_CHAR_MAX;
    if (bytesMax > SLAB_BYTES) return Buffer.from(line);
    if (end + bytesMax > slab.length) {
      slab = Buffer.allocUnsafeSlow(SLAB_BYTES);
      end = 0;
    }
    const start = end;
    end += slab.write(line, start);
    return slab.subarray(start, end);
  };
}
