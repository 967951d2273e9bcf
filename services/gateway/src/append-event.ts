import type { IncomingMessage } from 'node:http';
import { FieldError } from '@weir/domain/field-error';
import type { JsonObject } from '@weir/domain/json';
import { partitionKey } from '@weir/domain/partition-key';
import { encodeRawRecord } from '@weir/domain/raw-record';
import { checkServerEvent } from '@weir/domain/server-event';
import type { AppendResult } from './append-batcher.ts';
import type { RouteDeps } from './gateway-deps.ts';
import { recordHead } from './record-head.ts';

/** A server event as it was sent, read and as its text. */
export interface SentEvent {
  readonly request: IncomingMessage;
  readonly siteId: string;
  readonly json: JsonObject;
  readonly text: string;
}

/** Checks a server event and appends it: what broke a rule, or what became of it. */
export type AppendEvent = (sent: SentEvent) => FieldError | Promise<AppendResult>;

export function createAppendEvent({ batcher, clock, newEventId, clientAddress }: RouteDeps): AppendEvent {
  return ({ request, siteId, json, text }) => {
    const event = checkServerEvent(json);
    if (event instanceof FieldError) return event;
    const eventId = newEventId();
    const head = recordHead(request, {
      eventId,
      kind: 'event',
      siteId,
      receivedAt: clock(),
      ip: clientAddress(request),
    });
    const { idempotency_key: idempotencyKey = '', visitor_id: visitorId = '', user_id: userId = '' } = event;
    return batcher.append(
      {
        key: partitionKey({ siteId, eventId, userId, visitorId, idempotencyKey }, false),
        value: encodeRawRecord(head, text),
      },
      idempotencyKey === '' ? undefined : { siteId, key: idempotencyKey, owner: eventId },
    );
  };
}
