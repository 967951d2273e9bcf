import type { Registry } from '@weir/ports/registry';

/**
 * Resolves with the result of `isKnown`. If it is false, first reads the changes that other processes have stored. For example, a key works as soon
 * as another process has created it, so its removal must not be answered with 404.
 */
export async function isKnownToAny(registry: Pick<Registry, 'readToEnd'>, isKnown: () => boolean): Promise<boolean> {
  if (isKnown()) return true;
  await registry.readToEnd();
  return isKnown();
}
