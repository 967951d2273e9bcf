import { bearerToken, hashApiKey } from '@weir/domain/registry/api-key';
import type { ApiKey } from '@weir/domain/registry/site';
import type { Registry } from '@weir/ports/registry';

/** Returns the API key of an `Authorization` header. Undefined if the header has no valid key. */
export type Authenticate = (header: string | undefined) => ApiKey | undefined;

const HEADERS_MAX = 10_000;

/**
 * Compares keys by their SHA-256. The hashes of valid headers are cached, because hashing costs more than the other work on a
 * small request. For each request, the registry says whether the key is still valid.
 */
export function createAuthenticate(registry: Registry): Authenticate {
  const hashes = new Map<string, string>();
  return (header) => {
    if (header === undefined) return undefined;
    const known = hashes.get(header);
    if (known !== undefined) return registry.keyByHash(known);
    const token = bearerToken(header);
    if (token === undefined) return undefined;
    const hash = hashApiKey(token);
    const key = registry.keyByHash(hash);
    if (key !== undefined) {
      if (hashes.size >= HEADERS_MAX) hashes.clear();
      hashes.set(header, hash);
    }
    return key;
  };
}
