import { DependencyError } from '@weir/domain/errors';

/** Returns the innermost cause. kafkajs's retry code wraps errors, and only the innermost one shows whether the request was sent. */
export function rootCause(error: unknown): Error {
  let found = error instanceof Error ? error : new Error(String(error));
  while (found.cause instanceof Error) found = found.cause;
  return found;
}

/** The name of a broker's error, for example `NOT_LEADER_FOR_PARTITION`; `undefined` if the error does not come from a broker. */
export function brokerErrorType(error: unknown): string | undefined {
  const { name, type } = rootCause(error) as Error & { type?: string };
  return name.startsWith('KafkaJS') ? type : undefined;
}

export function eventLogUnavailable(what: string, error: unknown): DependencyError {
  if (error instanceof DependencyError) return error;
  return new DependencyError('event_log_unavailable', `${what}: ${rootCause(error).message}`, { cause: error });
}

/** Classifies an error that occurred while the log was opened: `event_log_refused` if a retry cannot help, otherwise `event_log_unavailable`. */
export function openingError(error: unknown): DependencyError {
  const { name, type, code, message } = rootCause(error) as Error & {
    readonly type?: unknown;
    readonly code?: unknown;
  };
  const refused =
    REFUSED_TYPES.test(String(type ?? '')) ||
    CERTIFICATE_CODES.test(String(code ?? '')) ||
    // kafkajs uses this error name also when the connection breaks during authentication. A retry can help in this case.
    (name === 'KafkaJSSASLAuthenticationError' && !/connection|timed? ?out/i.test(message));
  if (refused)
    return new DependencyError('event_log_refused', `Kafka refuses this process: ${message}`, { cause: error });
  return eventLogUnavailable('cannot connect to Kafka', error);
}

const REFUSED_TYPES = /AUTHORIZATION_FAILED$|^SASL_AUTHENTICATION_FAILED$|^UNSUPPORTED_SASL_MECHANISM$/;
/** Error codes of Node and OpenSSL for a certificate that is not trusted, and for a port that does not speak TLS. */
const CERTIFICATE_CODES = /CERT|^UNABLE_TO_VERIFY|^ERR_TLS|^ERR_SSL|^EPROTO$/;

/**
 * Error codes of the Kafka protocol with which a leader refuses a batch. If the answer also has no base offset (`NO_OFFSET` in kafka-produce.ts),
 * no record of the batch is stored. `again` is true if a retry may succeed.
 */
const REFUSALS = new Map<number, { readonly type: string; readonly again: boolean }>([
  [2, { type: 'CORRUPT_MESSAGE', again: false }],
  [3, { type: 'UNKNOWN_TOPIC_OR_PARTITION', again: true }],
  [5, { type: 'LEADER_NOT_AVAILABLE', again: true }],
  [6, { type: 'NOT_LEADER_OR_FOLLOWER', again: true }],
  [10, { type: 'MESSAGE_TOO_LARGE', again: false }],
  [17, { type: 'INVALID_TOPIC_EXCEPTION', again: false }],
  [18, { type: 'RECORD_LIST_TOO_LARGE', again: false }],
  [19, { type: 'NOT_ENOUGH_REPLICAS', again: true }],
  [29, { type: 'TOPIC_AUTHORIZATION_FAILED', again: false }],
  [74, { type: 'FENCED_LEADER_EPOCH', again: true }],
  [87, { type: 'INVALID_RECORD', again: false }],
]);

/**
 * Returns the meaning of an error code in the answer to a produce or fetch request, or `undefined` if the code is not in `REFUSALS`. If the result
 * for a produce request is `undefined`, its records may be in the log.
 */
export function knownRefusal(code: number): { readonly type: string; readonly again: boolean } | undefined {
  return REFUSALS.get(code);
}

/** True if kafkajs failed before it wrote to the socket, because it had no connection or could not open one. */
export function nothingWasSent(error: unknown): boolean {
  const { name, message, code } = rootCause(error) as Error & { code?: string };
  if (name !== 'KafkaJSConnectionError') return false;
  return message === 'Not connected' || message === 'Connection timeout' || code === 'ECONNREFUSED';
}
