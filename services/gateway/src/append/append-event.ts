import type { IncomingMessage } from 'node:http';
import { acceptServerEvent } from '@weir/domain/ingest/accept-body';
import { FieldError } from '@weir/domain/ingest/field-error';
import type { JsonObject } from '@weir/domain/json/json';
import { normalizeIp } from '@weir/domain/net/ip-address';
import { withoutClientAddress } from '@weir/domain/records/client-address-text';
import { partitionKey } from '@weir/domain/records/partition-key';
import { encodeRawRecord } from '@weir/domain/records/raw-record';
import type { ApiKey } from '@weir/domain/registry/site';
import type { RouteDeps } from '../gateway-deps.ts';
import type { AppendResult } from './append-batcher.ts';
import { buildEnvelope } from './envelope.ts';

/** A server event as it was sent, both parsed and as text. */
export interface SentEvent {
  readonly request: IncomingMessage;
  readonly key: ApiKey;
  readonly json: JsonObject;
  readonly text: string;
  /** The value of the header `Idempotency-Key`; empty if not sent. */
  readonly headerKey: string;
}

/** Validates a server event and appends it. Returns the field that broke a rule, or the result of the append. */
export type AppendEvent = (sent: SentEvent) => FieldError | Promise<AppendResult>;

export function createAppendEvent({ batcher, clock, newEventId, clientIpOf, addressSealer }: RouteDeps): AppendEvent {
  return ({ request, key, json, text, headerKey }) => {
    const event = acceptServerEvent(json, () => text, headerKey);
    if (event instanceof FieldError) return event;
    const { siteId } = key;
    const eventId = newEventId();
    const receivedAt = clock();
    const { idempotency_key: idempotencyKey = '', visitor_id: visitorId = '', user_id: userId = '' } = event;

    // Computed before the address is sealed, so that a request that waits does not keep `json`.
    const storedText = withoutClientAddress(text, json);
    const append = (sealedIp: string): Promise<AppendResult> => {
      const known = { eventId, kind: 'event', siteId, receivedAt, sealedIp, idempotencyKey: headerKey } as const;
      const head = buildEnvelope(request, known);
      return batcher.append(
        {
          key: partitionKey({ siteId, eventId, userId, visitorId, idempotencyKey }, false),
          value: encodeRawRecord(head, storedText),
        },
        idempotencyKey === '' ? undefined : { siteId, key: idempotencyKey, owner: eventId },
        key,
      );
    };
    // `context.ip` is the visitor's address. If it was sent, it replaces the address of the server that sent the event.
    const { ip } = event.context;
    const sealed = addressSealer.seal(ip === undefined ? clientIpOf(request) : normalizeIp(ip), receivedAt);
    if (typeof sealed === 'string') return append(sealed);
    return sealed.then((later) => (later === undefined ? 'unavailable' : append(later)));
  };
}
