import { isIP } from 'node:net';
import { parseJson } from '@weir/domain/json/json';
import { isDeeper } from '@weir/domain/json/nesting';
import { recordText } from '@weir/domain/records/body-text';
import { hideSealedIp } from '@weir/domain/records/raw-record';

const IPV4 = /(?<![\d.])\d{1,3}(?:\.\d{1,3}){3}(?![\d.]*\d)/g;
const IPV6 = /(?<![0-9a-z:])(?:[0-9a-f]{0,4}:){2,7}(?:[0-9a-f]{1,4}|\d{1,3}(?:\.\d{1,3}){3})?(?![0-9a-z:])/gi;
const MASK = '[address]';
/** The fields of a body that Weir ignores can be nested so deeply that JSON.stringify would overflow the stack. */
const LEVELS_MAX = 64;

/**
 * Masks everything that looks like an IP address, in a text that cannot be parsed into fields. This includes texts that are not
 * addresses, such as some version numbers.
 */
export function maskAddresses(text: string): string {
  return text.replace(IPV6, MASK).replace(IPV4, MASK);
}

/** Masks all IP addresses in the text of an unreadable record, and its encrypted client IP. */
export function maskRaw(text: string): string {
  return maskAddresses(hideSealedIp(text));
}

/** The fields of a raw record that can contain a client IP. */
interface Addressed {
  readonly ip?: unknown;
  sealedIp?: unknown;
  readonly body?: { readonly ip?: unknown; readonly context?: { readonly ip?: unknown } | null } | null;
}

/**
 * Returns the JSON of a raw record without addresses. The function removes the encrypted client IP. It also removes the decrypted client IP, and
 * the addresses in the fields `ip`, `body.ip` and `body.context.ip`, wherever they occur in the record. A text that is not a record, or that is
 * nested deeply, is masked as plain text. `opened` is the client IP that the step `open-address` has decrypted, or an empty text.
 */
export function withoutAddresses(raw: Uint8Array, opened: string): string {
  const text = recordText(raw);
  const record = parseJson(text) as Addressed | string | null | undefined;
  if (typeof record !== 'object' || record === null || isDeeper(record, LEVELS_MAX)) return maskRaw(text);
  const found = [opened, record.ip, record.body?.ip, record.body?.context?.ip];
  // The encrypted client IP is removed: a dead letter is kept longer than the encryption key of its day, and without the
  // key it cannot be decrypted.
  if (record.sealedIp !== undefined) record.sealedIp = '';
  let payload = JSON.stringify(record);
  for (const address of found) {
    if (typeof address === 'string' && isIP(address) !== 0) payload = payload.replaceAll(address, '');
  }
  return payload;
}
