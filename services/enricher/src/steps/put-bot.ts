import type { Step } from '../pipeline/step.ts';
import type { UserAgents } from '../user-agent/user-agent-columns.ts';

/**
 * Decides whether the event comes from a bot. For a server event, only a user agent in its context counts, because the HTTP
 * library of a server is not a bot. The client IP is ignored: people also use VPNs and data centres.
 */
export function createPutBot(agents: UserAgents): Step {
  return {
    name: 'put-bot',
    apply(event) {
      if (event.ownUserAgent) event.bot = agents.bot(event.userAgent, event.clientHints);
      return undefined;
    },
  };
}
