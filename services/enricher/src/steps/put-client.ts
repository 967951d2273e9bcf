import { type Agents, NO_NAMES } from '../agent-names.ts';
import type { Step } from '../hit.ts';

/** Browser, system and device. A server event that came through an HTTP library says nothing of its visitor's. */
export function createPutClient(agents: Agents): Step {
  return (hit) => {
    const ofLibrary = !hit.ownUserAgent && agents.bot(hit.userAgent) !== '';
    hit.names = ofLibrary ? NO_NAMES : agents.names(hit.userAgent, hit.clientHints);
    return undefined;
  };
}
