import { profileId } from '../people/profile-id.ts';

/** The state key of a visitor's sessions. */
export function visitorSessionsKey(siteId: string, visitorId: string): string {
  return `session:${siteId}\0${visitorId}`;
}

/**
 * The state key of a user's link: the visitor of the user's last identify. The key contains the profile ID and not the user ID, which can be
 * too long for a key.
 */
export function userLinkKey(siteId: string, userId: string): string {
  return `link:${siteId}\0${profileId(siteId, userId)}`;
}
