import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';

export interface DashboardFile {
  readonly plain: Buffer;
  /** The content in each encoding in which the build has compressed this file. */
  readonly compressed: Readonly<Partial<Record<Encoding, Buffer>>>;
  readonly headers: Readonly<Record<string, string>>;
}

/** The encodings of the compressed copies of a file, and the extension of each copy. The smallest copy comes first. */
export const ENCODINGS = { br: '.br', gzip: '.gz' } as const;
export type Encoding = keyof typeof ENCODINGS;

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
  '.webmanifest': 'application/manifest+json',
};

/** The names of files in this folder contain a hash of their content, so a browser never has to request them again. */
const HASHED_FOLDER = '/assets/';
const YEAR_SECONDS = 31_536_000;

/**
 * Reads the files of the folder and its subfolders, by their path in the folder (`/assets/main-AbC.js`). Files with an extension that `TYPES` does
 * not have are ignored. Empty if the folder does not exist or has no files.
 */
export function readDashboardFiles(folder: string): ReadonlyMap<string, DashboardFile> {
  const files = new Map<string, DashboardFile>();
  if (!existsSync(folder)) return files;
  for (const entry of readdirSync(folder, { withFileTypes: true, recursive: true })) {
    const type = TYPES[posix.extname(entry.name)];
    if (!entry.isFile() || type === undefined) continue;
    const path = `${entry.parentPath.slice(folder.length).replaceAll('\\', '/')}/${entry.name}`;
    const plain = readFileSync(join(entry.parentPath, entry.name));
    const variants = Object.entries(ENCODINGS).map(([encoding, suffix]) => [
      encoding,
      join(folder, `${path}${suffix}`),
    ]);
    files.set(path, {
      plain,
      compressed: Object.fromEntries(
        variants.flatMap(([encoding = '', file = '']) => (existsSync(file) ? [[encoding, readFileSync(file)]] : [])),
      ),
      headers: {
        'Content-Type': type,
        // `W/` makes the ETag weak, because the compressed copies of a file have other bytes but the same ETag.
        ETag: `W/"${createHash('sha256').update(plain).digest('base64url').slice(0, 22)}"`,
        'Cache-Control': path.startsWith(HASHED_FOLDER) ? `public, max-age=${YEAR_SECONDS}, immutable` : 'no-cache',
        Vary: 'Accept-Encoding',
      },
    });
  }
  return files;
}
