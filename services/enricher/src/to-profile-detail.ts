import type { Identity } from '@weir/domain/identity';
import { profileId } from '@weir/domain/profile-id';
import { jsonValue } from './json-text.ts';

/** Column `detail` of an unlink. */
export function toUnlinkDetail(siteId: string, userId: string): string {
  return jsonValue({ profile_id: profileId(siteId, userId), user_id: userId });
}

/** Column `detail` of an identify (records-columns.ts): only the fields that were sent. */
export function toProfileDetail(siteId: string, identity: Identity): string {
  const { userId, email, name, image, paymentCustomerId, traits } = identity;
  return jsonValue({
    profile_id: profileId(siteId, userId),
    user_id: userId,
    ...(email === '' ? {} : { email }),
    ...(name === '' ? {} : { name }),
    ...(image === '' ? {} : { image }),
    ...(Object.keys(traits).length === 0 ? {} : { traits }),
    ...(paymentCustomerId === '' ? {} : { payment_customer_id: paymentCustomerId }),
  });
}
