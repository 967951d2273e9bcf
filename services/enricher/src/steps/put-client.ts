import { type AgentNames, type Agents, NO_NAMES, toNames } from '../agent-names.ts';
import { NO_BOT } from '../bot-verdict.ts';
import { NO_CLIENT } from '../client.ts';
import type { Hit, Step } from '../hit.ts';

/** A bot has no browser of anyone's: Googlebot would count as a Chrome on Android. */
const BOT_NAMES: AgentNames = toNames({ ...NO_CLIENT, deviceType: 'bot' });

/** Browser, system and device, of what `put-bot` took for no bot. */
export function createPutClient(agents: Agents): Step {
  return (hit) => {
    if (hit.bot !== NO_BOT) hit.names = BOT_NAMES;
    else hit.names = ofLibrary(hit, agents) ? NO_NAMES : agents.names(hit.userAgent, hit.clientHints, hit);
    return undefined;
  };
}

/** A server event that came through an HTTP library says nothing of its visitor's. */
function ofLibrary(hit: Hit, agents: Agents): boolean {
  return !hit.ownUserAgent && agents.bot(hit.userAgent, undefined) !== NO_BOT;
}
