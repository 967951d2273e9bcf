import type { Agents } from '../agent-names.ts';
import type { Step } from '../hit.ts';

/** The bot's name. Of a server event only by a user agent of its own: that of its HTTP library is no bot. */
export function createPutBot(agents: Agents): Step {
  return (hit) => {
    if (hit.ownUserAgent) hit.bot = agents.bot(hit.userAgent);
    return undefined;
  };
}
