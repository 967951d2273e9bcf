import { isIP } from 'node:net';

const IPV4 = /(?<![\d.])\d{1,3}(?:\.\d{1,3}){3}(?![\d.]*\d)/g;
const IPV6 = /(?<![0-9a-z:])(?:[0-9a-f]{0,4}:){2,7}(?:[0-9a-f]{1,4}|\d{1,3}(?:\.\d{1,3}){3})?(?![0-9a-z:])/gi;
const MASK = '[address]';

/** Blots out whatever looks like an IP address, and some that only look like one: for texts whose fields can't be told. */
export function maskAddresses(text: string): string {
  return text.replace(IPV6, MASK).replace(IPV4, MASK);
}

/**
 * A raw record's JSON without its addresses: the client's in the head, and the visitor's that a server sent in `context.ip`,
 * wherever else they stand in it. What can't be read as a record is masked as plain text.
 */
export function withoutAddresses(raw: Uint8Array): string {
  const text = Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength).toString();
  let record: { ip?: unknown; body?: { ip?: unknown; context?: { ip?: unknown } | null } | null };
  try {
    record = JSON.parse(text);
  } catch {
    return maskAddresses(text);
  }
  if (typeof record !== 'object' || record === null) return maskAddresses(text);
  const found = [record.ip, record.body?.ip, record.body?.context?.ip];
  let payload = JSON.stringify(record);
  for (const address of found) {
    if (typeof address === 'string' && isIP(address) !== 0) payload = payload.replaceAll(address, '');
  }
  return payload;
}
