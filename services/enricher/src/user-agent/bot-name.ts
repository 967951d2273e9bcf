const UNNAMED = 'Unnamed bot';
const NAME_CHARS_MAX = 40;

/** Matches addresses, which no name may contain: URLs, e-mail addresses and IPv4 addresses. */
const ADDRESSES = /(?:[a-z]+:\/\/|www\.|mailto:)\S*|[^\s;()]+(?:@|[([]at[)\]])\S+|\b\d{1,3}(?:\.\d{1,3}){3}\b/gi;

/**
 * Matches a word of the user agent that names a bot, for example `SputnikBot` in `Mozilla/5.0 (compatible; SputnikBot/2.3)`.
 */
const TELLING_WORD =
  /[a-z0-9_.!-]{0,30}(?:bot|crawl|spider|slurp|fetch|scan|archiver|preview|monitor|feed|reader|validator)[a-z0-9_.!-]{0,30}/i;
const TELLING_WORDS = new RegExp(TELLING_WORD, 'gi');
/** Words that say what a bot does, and do not name it: `NetNewsWire (RSS Reader)`. */
const KIND = /^(?:bot|robot|crawler|spider|fetcher|scanner|preview|monitor(?:ing)?|feed|reader|validator)$/i;
const FIRST_PRODUCT = /^([a-z][a-z0-9_.! -]{0,40}?)(?:[/;]|\s*\(|$)/i;
/** Matches the name after `compatible;`, without its version. */
const COMPATIBLE = /compatible; *([a-z][\w.!'-]*(?: [a-z][\w.!'-]*)*)/gi;
/** Matches the product tokens, for example `zgrab` in `Mozilla/5.0 zgrab/0.x`. Only the last word needs no version. */
const PRODUCT = /[a-z][\w.!-]*(?=\/)|[a-z][a-z_.!-]+(?= \(|$)/gi;
/** Names that the user agents of browsers have too, so they do not name a bot. */
const ORDINARY =
  /^(?:Mozilla|AppleWebKit|WebKit|KHTML|Chrom(?:e|ium)|CriOS|Safari|Version|Mobile|Gecko|Firefox|FxiOS|Edg(?:e|A|iOS)?|OPR|Opera|Presto|MSIE|Trident|Konqueror|SamsungBrowser|Build|Ubuntu|Fedora|Debian|SUSE|Windows|Linux|Android|CFNetwork|Darwin|like|U)$/i;

/** Returns the name of a bot that is not in Weir's list, from its user agent. */
export function botName(agent: string): string {
  const text = agent.replace(ADDRESSES, ' ').trim();
  const word = TELLING_WORD.exec(text)?.[0];
  const telling = word !== undefined && KIND.test(word) ? nameAmong(text.match(TELLING_WORDS)) : word;
  const name = telling ?? firstProduct(text) ?? compatibleName(text) ?? lastProduct(text) ?? word;
  return name?.slice(0, NAME_CHARS_MAX) || UNNAMED;
}

function nameAmong(words: readonly string[] | null): string | undefined {
  return words?.find((word) => !KIND.test(word));
}

function firstProduct(text: string): string | undefined {
  const product = FIRST_PRODUCT.exec(text)?.[1]?.replace(/[ -]+$/, '');
  return product === 'Mozilla' ? undefined : product;
}

function compatibleName(text: string): string | undefined {
  return [...text.matchAll(COMPATIBLE)].map(([, name = '']) => name).find((name) => !ORDINARY.test(name));
}

function lastProduct(text: string): string | undefined {
  return text.match(PRODUCT)?.findLast((product) => !ORDINARY.test(product));
}
