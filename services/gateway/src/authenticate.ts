import { bearerToken, hashApiKey } from '@weir/domain/api-key';
import type { ApiKey } from '@weir/domain/site';
import type { Registry } from '@weir/ports/registry';

/** The key of an `Authorization` header, where there is one and it is known. */
export type Authenticate = (header: string | undefined) => ApiKey | undefined;

const HEADERS_MAX = 10_000;

/**
 * Keys are compared by their SHA-256. The hashes of headers that were right once are kept, so that a busy caller's is not
 * hashed for every request; whether the key is still valid is asked of the registry every time.
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
