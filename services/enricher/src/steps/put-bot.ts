import type { Step } from '../pipeline/step.ts';
import type { UserAgents } from '../user-agent/user-agent-columns.ts';

/**
 * Decides whether the event comes from a bot. For a server event, only a user agent in its field `context` counts: the user agent of the request is
 * that of the server's HTTP library. The client IP is ignored, because people also use VPNs and data centres.
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
