import { BoundedCache } from '@weir/domain/bounded-cache';
import { asHandheld, handheldOf, macintoshClaim } from './apple-handheld.ts';
import type { BotVerdict } from './bot-verdict.ts';
import { type Client, type ClientHints, NO_CLIENT } from './client.ts';
import { jsonText } from './json-text.ts';
import { judgeBot } from './judge-bot.ts';
import { parseClient, USER_AGENT_PARSED_CHARS_MAX } from './parse-client.ts';

/** What a user agent says, with the pieces of the line that it always gives. */
export interface AgentNames {
  readonly client: Client;
  /** Columns `browser` to `os_version`. */
  readonly browserJson: string;
  readonly deviceTypeJson: string;
  /** Columns `device_brand` and `device_model`. */
  readonly modelJson: string;
  readonly osJson: string;
}

export interface Screen {
  /** CSS pixels; 0 where not sent. */
  readonly screenWidth: number;
  readonly screenHeight: number;
}

export interface Agents {
  names(userAgent: string, hints: ClientHints | undefined, screen: Screen): AgentNames;
  bot(userAgent: string, hints: ClientHints | undefined): BotVerdict;
}

/** 558 different ones were seen in 10,000 requests; a parse costs 100 µs. Longer hints are not kept. */
const AGENTS_MAX = 20_000;
const HINTED_CHARS_MAX = 1536;

export function createAgents(): Agents {
  const agents = new BoundedCache<Agent>(AGENTS_MAX);
  const hinted = new BoundedCache<Agent>(AGENTS_MAX);
  // Each record asks twice in a row, with the very same text.
  let last: Agent = judged('', undefined);
  let lastText = '';

  function agentOf(text: string, hints: ClientHints | undefined): Agent {
    if (lastText === text && last.hints === hints) return last;
    const userAgent = text.slice(0, USER_AGENT_PARSED_CHARS_MAX);
    last = hints === undefined ? unhinted(userAgent) : withHints(userAgent, hints);
    lastText = text;
    return last;
  }

  function unhinted(userAgent: string): Agent {
    const known = agents.get(userAgent);
    if (known !== undefined) return known;
    const made = judged(userAgent, undefined);
    agents.set(userAgent, made);
    return made;
  }

  function withHints(userAgent: string, hints: ClientHints): Agent {
    const key = hintsKey(userAgent, hints);
    const known = hinted.get(key);
    if (known !== undefined) {
      known.hints = hints;
      return known;
    }
    const made = judged(userAgent, hints);
    if (key.length <= HINTED_CHARS_MAX) hinted.set(key, made);
    return made;
  }

  return {
    names(userAgent, hints, { screenWidth, screenHeight }) {
      const agent = agentOf(userAgent, hints);
      agent.names ??= namesOf(agent);
      if (agent.names.handhelds === undefined) return agent.names;
      const handheld = handheldOf(screenWidth, screenHeight);
      return handheld === undefined ? agent.names : agent.names.handhelds[handheld];
    },
    bot: (userAgent, hints) => agentOf(userAgent, hints).bot,
  };
}

interface Agent {
  readonly userAgent: string;
  /** Of the record that asked last: equal in content for all that find this entry. */
  hints: ClientHints | undefined;
  readonly bot: BotVerdict;
  /** Parsed when first asked for: nobody asks what browser a bot is. */
  names: MacOrNot | undefined;
}

/** `handhelds`: what it is if the screen is that of an iPad or iPhone, where the user agent leaves it open. */
interface MacOrNot extends AgentNames {
  readonly handhelds?: Readonly<Record<'iPad' | 'iPhone', AgentNames>>;
}

function judged(userAgent: string, hints: ClientHints | undefined): Agent {
  return { userAgent, hints, bot: judgeBot(userAgent, hints), names: undefined };
}

/** Put together by hand: this is asked for each record of a browser that sends hints. */
function hintsKey(userAgent: string, hints: ClientHints): string {
  let key = userAgent;
  for (const name in hints) key += `\0${name}\0${hints[name]}`;
  return key;
}

function namesOf({ userAgent, hints }: Agent): MacOrNot {
  if (userAgent === '') return NO_NAMES;
  const client = parseClient(userAgent, hints);
  if (macintoshClaim(userAgent) !== 'maybe') return toNames(client);
  const handhelds = { iPad: toNames(asHandheld(client, 'iPad')), iPhone: toNames(asHandheld(client, 'iPhone')) };
  return { ...toNames(client), handhelds };
}

export function toNames(client: Client): AgentNames {
  const texts = [client.browser, client.browserVersion, client.os, client.osVersion];
  return {
    client,
    browserJson: texts.map(jsonText).join(','),
    deviceTypeJson: jsonText(client.deviceType),
    modelJson: `${jsonText(client.deviceBrand)},${jsonText(client.deviceModel)}`,
    osJson: jsonText(client.os),
  };
}

export const NO_NAMES = toNames(NO_CLIENT);
