import type { AccessLogEntry } from './access-log-entry.ts';

/** Why a line of a log is no page view. */
export type AccessLogSkip = 'method' | 'status' | 'asset' | 'blank';

/** What a page loads by itself. Documents that people open (pdf, zip, txt, xml, json) are page views. */
export const ASSET_EXTENSIONS: ReadonlySet<string> = new Set([
  ...['css', 'js', 'mjs', 'cjs', 'map', 'wasm', 'webmanifest'],
  ...['png', 'jpg', 'jpeg', 'gif', 'svg', 'webp', 'avif', 'ico', 'bmp', 'tif', 'tiff', 'cur'],
  ...['woff', 'woff2', 'ttf', 'otf', 'eot'],
  ...['mp3', 'mp4', 'm4a', 'm4v', 'webm', 'ogg', 'ogv', 'oga', 'wav', 'flac', 'mov', 'avi', 'swf', 'flv'],
]);

/** Non-GET, then non-2xx/3xx, then assets; `undefined`: a page view. */
export function accessLogSkip(entry: AccessLogEntry): AccessLogSkip | undefined {
  // First, because a line whose request could not be read is there only with a 4xx: someone spoke TLS to a plain port.
  if (!(entry.status >= 200 && entry.status <= 399)) return 'status';
  if (entry.method !== 'GET') return 'method';
  const path = entry.target.split(/[?#]/, 1)[0] ?? '';
  const extension = /\.([A-Za-z0-9]{1,11})$/.exec(path)?.[1]?.toLowerCase();
  return extension !== undefined && ASSET_EXTENSIONS.has(extension) ? 'asset' : undefined;
}
