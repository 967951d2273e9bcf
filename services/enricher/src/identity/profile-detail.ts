import type { Json, JsonObject } from '@weir/domain/json/json';
import type { Identity } from '@weir/domain/people/identity';
import { profileId } from '@weir/domain/people/profile-id';
import { exactJson } from '../encoding/exact-json.ts';
import { jsonValue } from '../encoding/json-text.ts';
import type { EnrichedEvent } from '../pipeline/enriched-event.ts';

export function toUnlinkDetail(siteId: string, userId: string): string {
  return jsonValue({ profile_id: profileId(siteId, userId), user_id: userId });
}

/** The column `detail` of an identify (records-columns.ts). Fields that were not sent are left out. */
export function toProfileDetail({ siteId, kind, raw, identityProof }: EnrichedEvent, identity: Identity): string {
  const { userId, email, name, image, paymentCustomerId, traits } = identity;
  const detail = {
    profile_id: profileId(siteId, userId),
    user_id: userId,
    ...(email === '' ? {} : { email }),
    ...(name === '' ? {} : { name }),
    ...(image === '' ? {} : { image }),
    ...(Object.keys(traits).length === 0 ? {} : { traits }),
    ...(paymentCustomerId === '' ? {} : { payment_customer_id: paymentCustomerId }),
    ...(identityProof === 'signed' ? { signed: true } : {}),
  };
  const traitsSentIn = (body: JsonObject): Json | undefined => (kind === 'collect' ? body.identity : body);
  return exactJson(detail, raw, (body) => ({ traits: traitsSentIn(body) ?? null }));
}
