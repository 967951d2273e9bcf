import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The file in the data folder that stores the admin token. */
export function adminTokenFile(dataDir: string): string {
  return join(dataDir, 'admin-token');
}

export interface AdminToken {
  readonly token: string;
  /** True if this call created the token. Only then should the caller print it. */
  readonly created: boolean;
}

/** Returns the configured token, otherwise the one in the data folder, otherwise a new one (256 random bits), stored with mode 600. */
export function readOrCreateAdminToken(configured: string | undefined, dataDir: string): AdminToken {
  if (configured !== undefined) return { token: configured, created: false };
  const file = adminTokenFile(dataDir);
  const kept = existsSync(file) ? readFileSync(file, 'utf8').trim() : '';
  if (kept !== '') return { token: kept, created: false };
  const token = `wat_${randomBytes(32).toString('base64url')}`;
  // The file gets its final name after it was written: a crash must not leave an empty token file, which would prevent all logins.
  mkdirSync(dataDir, { recursive: true });
  writeFileSync(`${file}.new`, `${token}\n`, { mode: 0o600 });
  renameSync(`${file}.new`, file);
  return { token, created: true };
}
