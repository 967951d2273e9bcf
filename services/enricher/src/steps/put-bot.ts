import type { Step } from '../pipeline/step.ts';
import type { UserAgents } from '../user-agent/user-agent-columns.ts';

/**
 * Decides whether the event comes from a bot. A server event is judged only by a user agent in its context, because the user agent
 * of its HTTP library is not a bot. The client IP does not matter: people use VPNs and data centres too.
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
