const UNNAMED = 'Unnamed bot';
const NAME_CHARS_MAX = 40;

/**
 * Matches a word of the user agent that names a bot, for example `SputnikBot` in `Mozilla/5.0 (compatible; SputnikBot/2.3)`.
 */
const TELLING_WORD =
  /[a-z0-9_.!-]{0,30}(?:bot|crawl|spider|slurp|fetch|scan|archiver|preview|monitor|feed|reader|validator)[a-z0-9_.!-]{0,30}/i;
const FIRST_PRODUCT = /^([a-z][a-z0-9_.! -]{0,40}?)(?:\/|\s*\(|$)/i;

/** Returns the name of a bot that is not in Weir's list, from its user agent. */
export function botName(agent: string): string {
  const word = TELLING_WORD.exec(withoutLinks(agent))?.[0];
  if (word !== undefined) return word.slice(0, NAME_CHARS_MAX);
  const product = FIRST_PRODUCT.exec(agent)?.[1]?.trim();
  return product !== undefined && product !== 'Mozilla' ? product.slice(0, NAME_CHARS_MAX) : UNNAMED;
}

function withoutLinks(agent: string): string {
  return agent.replace(/(?:https?:\/\/|www\.)\S+|\S+@\S+/gi, ' ');
}
