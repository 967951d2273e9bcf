import { createCipheriv, createDecipheriv, createHmac } from 'node:crypto';
import type { Registry } from '@weir/ports/registry';

const CIPHER = 'aes-256-gcm';
const KEY_BYTES = 32;
const IV_BYTES = 12;
const TAG_BYTES = 16;
/** The number of characters of an offset below 36^7 (in base 36), plus the dot before the next offset. */
const OFFSET_CHARS = 8;

/** Encrypts the cursors that viewers get. The offsets in a cursor count the records of all sites, but a viewer may see only the data of one site. */
export interface HiddenCursors {
  /** Returns the encrypted cursor. Its length does not depend on the offsets, so the length does not show how many records there are. */
  hide(cursor: string): string;
  /** Returns the cursor. Returns an empty text if `text` does not come from `hide`, or if the key has changed since. */
  reveal(text: string): string;
}

interface HiddenCursorsDeps {
  readonly registry: Pick<Registry, 'sessionSecret'>;
  readonly randomBytes: (length: number) => Uint8Array;
}

export function createHiddenCursors({ registry, randomBytes }: HiddenCursorsDeps): HiddenCursors {
  const ownSecret = randomBytes(KEY_BYTES);
  /**
   * The key comes from the secret that signs the cookies of signed-in browsers, because all processes share it. Before the first sign-in, there is no
   * such secret, and each process uses its own.
   */
  const key = (): Buffer => {
    const shared = registry.sessionSecret()?.secret;
    const secret = shared === undefined ? ownSecret : Buffer.from(shared, 'hex');
    return createHmac('sha256', secret).update('cursors of live events').digest();
  };

  return {
    hide(cursor) {
      const iv = randomBytes(IV_BYTES);
      const cipher = createCipheriv(CIPHER, key(), iv);
      const sealed = [cipher.update(padded(cursor)), cipher.final()];
      return Buffer.concat([iv, ...sealed, cipher.getAuthTag()]).toString('base64url');
    },
    reveal(text) {
      const bytes = Buffer.from(text, 'base64url');
      if (bytes.length < IV_BYTES + TAG_BYTES) return '';
      const decipher = createDecipheriv(CIPHER, key(), bytes.subarray(0, IV_BYTES));
      decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
      const opened = decipher.update(bytes.subarray(IV_BYTES, -TAG_BYTES));
      try {
        return Buffer.concat([opened, decipher.final()]).toString().trimEnd();
      } catch {
        // The tag is wrong: the text was encrypted with another key, or it is not an encrypted cursor.
        return '';
      }
    },
  };
}

/** Adds spaces, so that all cursors of a log have the same length. */
function padded(cursor: string): string {
  const offsets = cursor.slice(cursor.lastIndexOf('_') + 1);
  return cursor.padEnd(cursor.length - offsets.length + OFFSET_CHARS * offsets.split('.').length);
}
