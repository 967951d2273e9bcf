import type { EnrichedEvent } from '../pipeline/enriched-event.ts';
import type { Step } from '../pipeline/step.ts';
import { NO_BOT } from '../user-agent/judge-bot.ts';
import { EMPTY_USER_AGENT } from '../user-agent/user-agent.ts';
import {
  NO_USER_AGENT_COLUMNS,
  toUserAgentColumns,
  type UserAgentColumns,
  type UserAgents,
} from '../user-agent/user-agent-columns.ts';

/** A bot has no browser. Otherwise Googlebot would count as Chrome on Android. */
const BOT_COLUMNS: UserAgentColumns = toUserAgentColumns({ ...EMPTY_USER_AGENT, deviceType: 'bot' });

/** Fills in browser, operating system and device. Runs after `put-bot`, because a bot gets other values. */
export function createPutUserAgent(agents: UserAgents): Step {
  return {
    name: 'put-user-agent',
    apply(event) {
      event.userAgentColumns = columnsOf(event, agents);
      return undefined;
    },
  };
}

function columnsOf(event: EnrichedEvent, agents: UserAgents): UserAgentColumns {
  if (event.bot !== NO_BOT) return BOT_COLUMNS;
  // The user agent of a server's HTTP library is not the user agent of the visitor.
  const isLibrary = !event.ownUserAgent && agents.bot(event.userAgent, undefined) !== NO_BOT;
  return isLibrary ? NO_USER_AGENT_COLUMNS : agents.columns(event.userAgent, event.clientHints, event);
}
