import { hash } from 'node:crypto';
import { BoundedCache } from '@weir/domain/bounded-cache';

const HIDDEN_CHARS = 22;
const KEYS_MAX = 50_000;

/**
 * Keys that hold addresses, as Redis may see them, because it writes its keys to its disk: a hash with the day's salt, the same
 * in all processes. When the salt is gone, no process can try out which address a hash stands for.
 */
export function createHiddenKeys(): (key: string, salt: string) => string {
  const hidden = new BoundedCache<string>(KEYS_MAX);
  let hiddenWith = '';
  return (key, salt) => {
    if (salt !== hiddenWith) {
      hidden.clear();
      hiddenWith = salt;
    }
    let text = hidden.get(key);
    if (text === undefined) {
      text = hash('sha256', `${salt}\0rate limit\0${key}`, 'base64url').slice(0, HIDDEN_CHARS);
      hidden.set(key, text);
    }
    return text;
  };
}
