import type { AccessLogEntry } from './access-log-entry.ts';

/** The reasons why a line of an access log is not imported as a pageview. */
export const ACCESS_LOG_SKIPS = [
  'method',
  'status',
  'asset',
  'blank',
  'robots',
  'sitemap',
  'feed',
  'well_known',
  'ads_txt',
] as const;
export type AccessLogSkip = (typeof ACCESS_LOG_SKIPS)[number];

/** Extensions of files that pages load. Documents that people open (pdf, zip, txt, xml, json) count as page views. */
export const ASSET_EXTENSIONS: ReadonlySet<string> = new Set([
  ...['css', 'js', 'mjs', 'cjs', 'map', 'wasm', 'webmanifest'],
  ...['png', 'jpg', 'jpeg', 'gif', 'svg', 'webp', 'avif', 'ico', 'bmp', 'tif', 'tiff', 'cur'],
  ...['woff', 'woff2', 'ttf', 'otf', 'eot'],
  ...['mp3', 'mp4', 'm4a', 'm4v', 'webm', 'ogg', 'ogv', 'oga', 'wav', 'flac', 'mov', 'avi', 'swf', 'flv'],
]);

/** Files that crawlers, feed readers and browsers fetch by themselves. Each pattern is compared with the last part of a path. */
const FOR_PROGRAMS: readonly (readonly [AccessLogSkip, RegExp])[] = [
  ['asset', /^(?:favicon\.|apple-touch-icon)/],
  ['robots', /^robots\.txt$/],
  ['sitemap', /^(?:.*[-_.])?sitemap.*\.xml(?:\.gz)?$/],
  ['feed', /^(?:feeds?|rss2?|atom|rdf)$|^(?:feeds?|rss\d*|atom)(?:[-_.].*)?\.(?:xml|json|php)$|\.(?:rss|atom|rdf)$/],
  ['ads_txt', /^(?:app-)?ads\.txt$/],
];
/** Longer names are not compared with FOR_PROGRAMS: no such file has a longer name. */
const NAME_CHARS_MAX = 255;

/** Returns why a line is not a page view; `undefined` for a page view. Checks the status, then the method, then the path. */
export function accessLogSkip(entry: AccessLogEntry): AccessLogSkip | undefined {
  // The status comes first: a request that the server could not read, such as TLS on a port for HTTP, has a 4xx and no method. Its
  // reason is then `status`.
  if (!(entry.status >= 200 && entry.status <= 399)) return 'status';
  if (entry.method !== 'GET') return 'method';
  const path = (entry.target.split(/[?#]/, 1)[0] ?? '').toLowerCase();
  const extension = /\.([a-z0-9]{1,11})$/.exec(path)?.[1];
  if (extension !== undefined && ASSET_EXTENSIONS.has(extension)) return 'asset';
  return programSkip(path);
}

/**
 * Returns why a URL that only programs fetch is skipped; `undefined` for all other URLs. `target`: a path or an absolute URL,
 * in lower case.
 */
function programSkip(target: string): AccessLogSkip | undefined {
  const path = target.replace(/^https?:\/\/[^/]*/, '').replace(/\/{2,}/g, '/');
  if (path.startsWith('/.well-known/')) return 'well_known';
  if (path.startsWith('/feeds/posts/')) return 'feed';
  const bare = path.endsWith('/') ? path.slice(0, -1) : path;
  const name = bare.slice(bare.lastIndexOf('/') + 1);
  if (name.length > NAME_CHARS_MAX) return undefined;
  return FOR_PROGRAMS.find(([, matches]) => matches.test(name))?.[0];
}
