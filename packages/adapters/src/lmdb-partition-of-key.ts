/**
 * The partition of a key: FNV-1a (32 bit) over the key's UTF-16 code units, mixed by MurmurHash3's finaliser, modulo the
 * number of partitions. Never change it: a key's records must stay in one partition for the life of a log.
 */
export function partitionOfKey(key: string, partitions: number): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < key.length; i++) hash = Math.imul(hash ^ key.charCodeAt(i), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return ((hash ^ (hash >>> 16)) >>> 0) % partitions;
}
