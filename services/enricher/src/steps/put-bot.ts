import { type AgentNames, type Agents, toNames } from '../agent-names.ts';
import type { Step } from '../hit.ts';
import { NO_CLIENT } from '../parse-client.ts';

/** A bot has no browser of anyone's: Googlebot would count as a Chrome on Android. */
const BOT_NAMES: AgentNames = toNames({ ...NO_CLIENT, deviceType: 'bot' });

/** The bot's name. Of a server event only by a user agent of its own: that of its HTTP library is no bot. */
export function createPutBot(agents: Agents): Step {
  return (hit) => {
    if (!hit.ownUserAgent) return undefined;
    hit.bot = agents.bot(hit.userAgent);
    if (hit.bot !== '') hit.names = BOT_NAMES;
    return undefined;
  };
}
