import { jsonText } from '../encoding/json-text.ts';

/**
 * Whether a hit is a bot's, and why. Column `bot_reason`:
 * - `no_user_agent`: the request doesn't say who it is.
 * - `ai_crawler`: crawlers of AI companies, and fetchers that an assistant sends for its user, by name.
 * - `headless_browser`: a browser without a screen, by its user agent or by the brand in `Sec-CH-UA`.
 * - `http_library`: curl and what programs fetch with.
 * - `known_bot`: a search engine, link preview, monitor or tool of our list, by name.
 * - `bot_pattern`: the package isbot says so; the name is the most telling word of the user agent.
 * The address is never a reason: people sit behind VPNs and in data centres too.
 */
export type BotReason =
  | 'no_user_agent'
  | 'ai_crawler'
  | 'headless_browser'
  | 'http_library'
  | 'known_bot'
  | 'bot_pattern';

export interface BotVerdict {
  /** Empty for what may be a person. */
  readonly name: string;
  readonly reason: BotReason | '';
  /** Columns `bot` and `bot_reason`. */
  readonly json: string;
}

export function toVerdict(name: string, reason: BotReason | ''): BotVerdict {
  return { name, reason, json: `${jsonText(name)},"${reason}"` };
}

export const NO_BOT = toVerdict('', '');
