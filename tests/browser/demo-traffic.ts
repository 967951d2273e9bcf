const PAGES = [
  ...['/', '/', '/', '/pricing', '/pricing', '/docs', '/docs/install', '/docs/api', '/blog', '/blog/exactly-once'],
  ...['/blog/clickhouse-in-a-process', '/customers', '/about', '/changelog', '/docs/self-hosting', '/login'],
  '/blog/a-very-long-title-that-does-not-fit-into-a-panel-of-the-overview-and-must-be-cut-with-an-ellipsis-at-its-end',
];
const REFERRERS = [
  ...[
    '-',
    '-',
    '-',
    'https://www.google.com/',
    'https://www.google.com/',
    'https://duckduckgo.com/',
    'https://www.bing.com/',
  ],
  ...['https://news.ycombinator.com/item?id=1', 'https://github.com/trending', 'https://www.reddit.com/r/selfhosted/'],
  ...[
    'https://chatgpt.com/',
    'https://www.linkedin.com/',
    'https://t.co/abc',
    'https://lobste.rs/',
    'https://www.perplexity.ai/',
  ],
];
const AGENTS = [
  ...[129, 130, 131].map(
    (version) =>
      `Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/${version}.0.0.0 Safari/537.36`,
  ),
  'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Safari/605.1.15',
  'Mozilla/5.0 (X11; Linux x86_64; rv:133.0) Gecko/20100101 Firefox/133.0',
  'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1',
  'Mozilla/5.0 (Linux; Android 14; Pixel 8) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Mobile Safari/537.36',
  'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)',
  'Mozilla/5.0 (compatible; GPTBot/1.2; +https://openai.com/gptbot)',
];
/** The first bytes of the addresses. With these bytes, the geo data places the visits in several countries. */
const FIRST_BYTES = [8, 24, 31, 46, 62, 78, 81, 84, 91, 101, 103, 112, 133, 151, 177, 189, 196, 202, 212, 217];
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const TAGS = [
  '',
  '',
  '',
  '',
  '',
  '?utm_source=newsletter&utm_medium=email&utm_campaign=november',
  '?utm_source=google&utm_medium=cpc&utm_campaign=brand',
];
const DAY_MS = 86_400_000;

/**
 * Returns an access log in the combined format for the day of `endMs` and the `days` days before it. Visits have one to six pages. There are more
 * visits on working days and in the daytime. The same seed gives the same log.
 */
export function demoAccessLog(endMs: number, days: number, visitsPerDay: number, seed: number): string {
  const random = randomOf(seed);
  const pick = <Value>(values: readonly Value[]): Value => values[Math.floor(random() * values.length)] as Value;
  const lines: { readonly at: number; readonly text: string }[] = [];
  for (let day = days; day >= 0; day--) {
    const start = endMs - day * DAY_MS;
    const weekday = new Date(start).getUTCDay();
    const growth = 1 + (days - day) / days / 2;
    const visits = visitsPerDay * growth * (weekday % 6 === 0 ? 0.55 : 1) * (0.85 + random() * 0.3);
    for (let visit = 0; visit < visits; visit++) {
      const hour = (8 + 14 * (random() + random() + random())) / 2;
      let at = start - (start % DAY_MS) + hour * 3_600_000;
      const address = `${pick(FIRST_BYTES)}.${Math.floor(random() * 250)}.${Math.floor(random() * 250)}.${1 + Math.floor(random() * 250)}`;
      const [agent, referrer, tag] = [pick(AGENTS), pick(REFERRERS), pick(TAGS)];
      const pages = random() < 0.4 ? 1 : 2 + Math.floor(random() * 5);
      for (let page = 0; page < pages && at < endMs; page++) {
        const from = page === 0 ? referrer : 'https://example.com/';
        const path = pick(PAGES) + (page === 0 ? tag : '');
        lines.push({
          at,
          text: `${address} - - [${clfTime(at)}] "GET ${path} HTTP/1.1" 200 5120 "${from}" "${agent}"\n`,
        });
        at += 5_000 + random() * 90_000;
      }
    }
  }
  return lines
    .sort((a, b) => a.at - b.at)
    .map(({ text }) => text)
    .join('');
}

function clfTime(ms: number): string {
  const iso = new Date(ms).toISOString();
  return `${iso.slice(8, 10)}/${MONTHS[Number(iso.slice(5, 7)) - 1]}/${iso.slice(0, 4)}:${iso.slice(11, 19)} +0000`;
}

/** A linear congruential generator: numbers from 0 to 1. */
function randomOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
