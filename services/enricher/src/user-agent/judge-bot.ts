import { isbot } from 'isbot';
import knownBots from '../../lists/bots.json';
import { jsonText } from '../encoding/json-text.ts';
import { botName } from './bot-name.ts';
import type { ClientHints } from './user-agent.ts';

/**
 * Why a hit is judged to come from a bot. Values of the column `bot_reason`:
 * - `no_user_agent`: the request has no user agent.
 * - `ai_crawler`: the name of a crawler of an AI company, or of a fetcher that an AI assistant uses for a person.
 * - `headless_browser`: a browser without a screen, recognised by its user agent or by the brand in `Sec-CH-UA`.
 * - `http_library`: curl, or another HTTP library or program.
 * - `known_bot`: the name of a search engine, link preview, monitor or tool in Weir's list.
 * - `bot_pattern`: the package isbot recognises the user agent, but no name in Weir's list matches. The name comes from a word in it.
 *
 * The client IP is never a reason: people also use VPNs and data centres.
 */
export type BotReason =
  | 'no_user_agent'
  | 'ai_crawler'
  | 'headless_browser'
  | 'http_library'
  | 'known_bot'
  | 'bot_pattern';

export interface BotVerdict {
  /** Empty if the hit may come from a person. */
  readonly name: string;
  readonly reason: BotReason | '';
  /** The encoded columns `bot` and `bot_reason`. */
  readonly json: string;
}

function toVerdict(name: string, reason: BotReason | ''): BotVerdict {
  return { name, reason, json: `${jsonText(name)},"${reason}"` };
}

export const NO_BOT = toVerdict('', '');

/** The name of a bot that sends no user agent. The package isbot does not count such requests as bots. */
export const NO_USER_AGENT = 'No user agent';
/**
 * The names with these reasons are unambiguous. A name with another reason can also occur in a person's user agent, so it counts only if
 * isbot recognises a bot too.
 */
const SURE: ReadonlySet<string> = new Set<BotReason>(['ai_crawler', 'headless_browser']);
const SURE_WORDS = knownBots.filter(({ reason }) => SURE.has(reason)).flatMap(({ match }) => match);
/** Texts in people's user agents that isbot wrongly takes for a bot. */
const PEOPLE_SAY = new RegExp(
  [
    // The model of an Android device, for example `Google TV Streamer` or `M bot 60`.
    /(?<=\bAndroid [\d.]+; (?:[a-z]{2}-[A-Za-z]{2}; )?)[^;()/]+(?:Build\/[^;()]*)?(?=[;)])/,
    // An app for news on a phone or tablet, for example `SmartNews/24.5.0`.
    /[Nn]ews(?=\w*[/ ]\d)(?<=\((?:iP|Linux; ).*)/,
    // The data of the Facebook app, for example the network `Google Fi`.
    /\[FB(?:AN|_IAB)\/[^\]]*\]?/,
    // The size of the screen in Alipay.
    /\bAlipayDefined\([^)]*\)/,
    // The name of the process in WeChat.
    /\bProcess\/\w+/,
    /\bGoogleT5\b/,
    /^User-Agent: /,
  ]
    .map(({ source }) => source)
    .join('|'),
  'g',
);
const HEADLESS_BRAND = '"HeadlessChrome"';

/**
 * Decides whether a user agent belongs to a bot, and why. Weir's list is checked first, because isbot returns no names. A call
 * takes about 10 µs, so callers cache the result.
 */
export function judgeBot(userAgent: string, hints: ClientHints | undefined): BotVerdict {
  const agent = userAgent.trim();
  if (agent === '' || agent === '-') return toVerdict(NO_USER_AGENT, 'no_user_agent');
  const looksLikeBot = isbot(agent) && isbot(agent.replace(PEOPLE_SAY, '') || null);
  const lower = agent.toLowerCase();
  // Most user agents contain no unambiguous name, so this check saves the comparison with all other names.
  const told = looksLikeBot || SURE_WORDS.some((word) => lower.includes(word)) ? knownBotOf(lower) : undefined;
  if (told !== undefined && (SURE.has(told.reason) || looksLikeBot)) {
    return toVerdict(told.name, told.reason as BotReason);
  }
  if (looksLikeBot) return toVerdict(botName(agent), 'bot_pattern');
  // Puppeteer and similar tools change the user agent, but often leave the brand unchanged.
  if (hints?.['sec-ch-ua']?.includes(HEADLESS_BRAND)) return toVerdict('Headless Chrome', 'headless_browser');
  return NO_BOT;
}

/** The first entry of Weir's list that matches a user agent in lower case. */
function knownBotOf(lower: string): (typeof knownBots)[number] | undefined {
  return knownBots.find(({ match }) => match.some((word) => lower.includes(word)));
}
