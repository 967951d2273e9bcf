import { isbot } from 'isbot';
import knownBots from '../../lists/bots.json';
import { botName } from './bot-name.ts';
import { type BotReason, type BotVerdict, NO_BOT, toVerdict } from './bot-verdict.ts';
import type { ClientHints } from './user-agent.ts';

/** A request that doesn't say who it is. `isbot` takes it for a person. */
export const NO_USER_AGENT = 'No user agent';
/** These name themselves in so many words; of the others a word alone could stand in a person's user agent too. */
const SURE: ReadonlySet<string> = new Set<BotReason>(['ai_crawler', 'headless_browser']);
/** What people's user agents hold and isbot stumbles over: WeChat's process, a maker's name, Facebook's app on its own. */
const PEOPLE_SAY = /\bProcess\/\w+|\bGoogle (?=Nexus|Pixel)|\bGoogleT5\b|^User-Agent: |^\[FBAN\/.*$/g;
const HEADLESS_BRAND = '"HeadlessChrome"';

/** Whether a user agent is a bot's, and why. Our list first: `isbot` gives no names. About 10 µs: cache it. */
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
  // Puppeteer and its like change the user agent, and often forget the brand.
  if (hints?.['sec-ch-ua']?.includes(HEADLESS_BRAND)) return toVerdict('Headless Chrome', 'headless_browser');
  return NO_BOT;
}
