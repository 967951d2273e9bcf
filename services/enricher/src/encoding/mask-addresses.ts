import { isIP } from 'node:net';

const IPV4 = /(?<![\d.])\d{1,3}(?:\.\d{1,3}){3}(?![\d.]*\d)/g;
const IPV6 = /(?<![0-9a-z:])(?:[0-9a-f]{0,4}:){2,7}(?:[0-9a-f]{1,4}|\d{1,3}(?:\.\d{1,3}){3})?(?![0-9a-z:])/gi;
const SEAL = /("sealedIp":)"[^"]*"?/g;
const MASK = '[address]';

/** Masks everything that looks like an IP address, for texts that have no fields. This can also mask a text such as a version. */
export function maskAddresses(text: string): string {
  return text.replace(IPV6, MASK).replace(IPV4, MASK);
}

/** The text of an unreadable record, without addresses and without the sealed address. */
export function maskRaw(text: string): string {
  return maskAddresses(text.replace(SEAL, '$1""'));
}

/**
 * The JSON of a raw record without addresses: the client IP of the envelope, sealed and opened, and the `context.ip` that a server
 * sent. Both are removed wherever they occur in the record. A text that is not a record is masked as plain text.
 * `opened`: the client IP, if the step `open-address` has opened it.
 */
export function withoutAddresses(raw: Uint8Array, opened: string): string {
  const text = Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength).toString();
  let record: { ip?: unknown; sealedIp?: unknown; body?: { ip?: unknown; context?: { ip?: unknown } | null } | null };
  try {
    record = JSON.parse(text);
  } catch {
    return maskRaw(text);
  }
  if (typeof record !== 'object' || record === null) return maskRaw(text);
  const found = [opened, record.ip, record.body?.ip, record.body?.context?.ip];
  // A dead letter is kept longer than the key of its day, so its sealed address could never be opened again.
  if (record.sealedIp !== undefined) record.sealedIp = '';
  let payload = JSON.stringify(record);
  for (const address of found) {
    if (typeof address === 'string' && isIP(address) !== 0) payload = payload.replaceAll(address, '');
  }
  return payload;
}
