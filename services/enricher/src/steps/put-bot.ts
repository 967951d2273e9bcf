import type { Agents } from '../agent-names.ts';
import type { Step } from '../hit.ts';

/**
 * The bot's name and why it is one. Of a server event only by a user agent of its own: that of its HTTP library is no bot.
 * The address is not asked: who sits behind a VPN or in a data centre is not dropped for that alone.
 */
export function createPutBot(agents: Agents): Step {
  return (hit) => {
    if (hit.ownUserAgent) hit.bot = agents.bot(hit.userAgent, hit.clientHints);
    return undefined;
  };
}
