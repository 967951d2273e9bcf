import { hash } from 'node:crypto';
import { BoundedCache } from '@weir/domain/bounded-cache';

const HIDDEN_CHARS = 22;
const KEYS_MAX = 50_000;

/**
 * Returns a function that hashes a client IP with the salt of the day (docs/glossary.md), for use as a key in Redis, which writes its keys to disk.
 * The hash is the same in all processes. After the salt is deleted, no process can find out which client IP a hash belongs to.
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
