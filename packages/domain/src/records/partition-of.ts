/**
 * The partition of a key. It must be the same in every process, engine and version for the life of a log, so this function must
 * never change. It is FNV-1a (32 bits) over the key's UTF-16 code units, then the last mixing step of MurmurHash3 (because the low
 * bits of FNV are unevenly distributed), modulo the number of partitions.
 */
export function partitionOf(key: string, partitionCount: number): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < key.length; i++) hash = Math.imul(hash ^ key.charCodeAt(i), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return ((hash ^ (hash >>> 16)) >>> 0) % partitionCount;
}
