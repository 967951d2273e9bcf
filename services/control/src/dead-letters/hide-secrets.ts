import { hideSealedIp } from '@weir/domain/records/raw-record';

const EMAIL = /[^\s"'<>()\\,:;=/]{1,128}(?:@|%40)[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63})+/gi;
const API_KEY = /\bwk_[A-Za-z0-9_-]{8,}/g;

/**
 * Hides e-mail addresses, API keys and encrypted client IPs in the payload or the error of a dead letter. Client IPs in plain text are
 * removed before a dead letter is stored.
 */
export function hideSecrets(text: string): string {
  return hideSealedIp(text).replace(EMAIL, '[email]').replace(API_KEY, '[key]');
}
