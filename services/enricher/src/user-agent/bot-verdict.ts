import { jsonText } from '../encoding/json-text.ts';

/**
 * Why a hit is judged to come from a bot. Values of the column `bot_reason`:
 * - `no_user_agent`: the request has no user agent.
 * - `ai_crawler`: the name of a crawler of an AI company, or of a fetcher that an AI assistant uses for a person.
 * - `headless_browser`: a browser without a screen, recognised by its user agent or by the brand in `Sec-CH-UA`.
 * - `http_library`: curl, or another HTTP library or program.
 * - `known_bot`: the name of a search engine, link preview, monitor or tool in Weir's list.
 * - `bot_pattern`: the package isbot recognises it. The bot's name is the most significant word of the user agent.
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

export function toVerdict(name: string, reason: BotReason | ''): BotVerdict {
  return { name, reason, json: `${jsonText(name)},"${reason}"` };
}

export const NO_BOT = toVerdict('', '');
