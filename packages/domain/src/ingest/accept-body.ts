import type { JsonObject } from '../json/json.ts';
import { type BodyText, type Identity, readIdentity } from '../people/identity.ts';
import { type CollectHitFields, checkCollectHit } from './collect-hit.ts';
import { FieldError } from './field-error.ts';
import { checkServerEvent, nameOfProperties, type ServerEventFields, sentProperties } from './server-event.ts';
import { unstorableRule } from './storable.ts';
import { looksLikeSeconds, SECONDS_RULE } from './timestamp.ts';

/**
 * All checks that the gateway makes of a server event. The first one, `checkServerEvent`, tests whether the body can be read. The enricher
 * makes only this check, because the log can contain records that an older gateway accepted. The other checks refuse a timestamp that looks
 * like seconds, and values that cannot be stored as they were sent. `headerKey`: the header `Idempotency-Key`; empty if it was not sent.
 */
export function acceptServerEvent(body: JsonObject, text: BodyText, headerKey = ''): ServerEventFields | FieldError {
  const event = checkServerEvent(body, headerKey);
  if (event instanceof FieldError) return event;
  if (event.timestamp !== undefined && looksLikeSeconds(event.timestamp)) {
    return new FieldError('timestamp', SECONDS_RULE);
  }
  const { properties = NONE, external_id: externalId } = event;
  const field = nameOfProperties(body);
  const own = properties.external_id ?? undefined;
  if (externalId !== undefined && own !== undefined && own !== externalId) {
    return new FieldError(`${field}.external_id`, 'must be the same as external_id, which is stored there');
  }
  const stored = externalId === undefined ? properties : { ...properties, external_id: externalId };
  const broken = unstorableRule(stored, text, sentProperties);
  return broken === undefined ? event : new FieldError(field, broken);
}

const NONE: JsonObject = {};

export function acceptCollectHit(body: JsonObject, text: BodyText): CollectHitFields | FieldError {
  const hit = checkCollectHit(body, text);
  if (hit instanceof FieldError) return hit;
  if (hit.properties !== undefined) {
    const broken = unstorableRule(hit.properties, text, (sent) => sent.event_properties);
    if (broken !== undefined) return new FieldError('event_properties', broken);
  }
  if (hit.identity === undefined) return hit;
  const broken = unstorableRule(hit.identity.traits, text, (sent) => sent.identity);
  return broken === undefined ? hit : new FieldError('identity: traits', broken);
}

export function acceptIdentity(body: JsonObject, text: BodyText): Identity | FieldError {
  const identity = readIdentity(body, text);
  if (identity instanceof FieldError) return identity;
  const broken = unstorableRule(identity.traits, text, (sent) => sent);
  return broken === undefined ? identity : new FieldError('traits', broken);
}
