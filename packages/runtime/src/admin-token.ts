import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The file in the data folder that keeps the admin token. */
export function adminTokenFile(dataDir: string): string {
  return join(dataDir, 'admin-token');
}

export interface AdminToken {
  readonly token: string;
  /** It was made just now: print it, this once. */
  readonly made: boolean;
}

/** The configured token, else the one in the data folder, else a new one (256 random bits) kept there with mode 600. */
export function readOrMakeAdminToken(configured: string | undefined, dataDir: string): AdminToken {
  if (configured !== undefined) return { token: configured, made: false };
  const file = adminTokenFile(dataDir);
  const kept = existsSync(file) ? readFileSync(file, 'utf8').trim() : '';
  if (kept !== '') return { token: kept, made: false };
  const token = `wat_${randomBytes(32).toString('base64url')}`;
  // Renamed when it is whole: a crash in between must not leave an empty token, with which nobody could sign in.
  mkdirSync(dataDir, { recursive: true });
  writeFileSync(`${file}.new`, `${token}\n`, { mode: 0o600 });
  renameSync(`${file}.new`, file);
  return { token, made: true };
}
