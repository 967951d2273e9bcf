import { isbot } from 'isbot';
import knownBots from '../../lists/bots.json';
import { botName } from './bot-name.ts';
import { type BotReason, type BotVerdict, NO_BOT, toVerdict } from './bot-verdict.ts';
import type { ClientHints } from './user-agent.ts';

/** The name of a bot without a user agent. The package `isbot` regards such requests as a person's. */
export const NO_USER_AGENT = 'No user agent';
/**
 * Names of these kinds are unambiguous. A name of another kind can also occur in a person's user agent, so isbot must confirm
 * it.
 */
const SURE: ReadonlySet<string> = new Set<BotReason>(['ai_crawler', 'headless_browser']);
/**
 * Texts in user agents of people that isbot wrongly matches: WeChat's process, the brand Google, and the Facebook app without a
 * browser.
 */
const PEOPLE_SAY = /\bProcess\/\w+|\bGoogle (?=Nexus|Pixel)|\bGoogleT5\b|^User-Agent: |^\[FBAN\/.*$/g;
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
  const told = knownBots.find((bot) => bot.match.some((word) => lower.includes(word)));
  if (told !== undefined && (SURE.has(told.reason) || looksLikeBot)) {
    return toVerdict(told.name, told.reason as BotReason);
  }
  if (looksLikeBot) return toVerdict(botName(agent), 'bot_pattern');
  // Puppeteer and similar tools change the user agent, but often leave the brand unchanged.
  if (hints?.['sec-ch-ua']?.includes(HEADLESS_BRAND)) return toVerdict('Headless Chrome', 'headless_browser');
  return NO_BOT;
}
