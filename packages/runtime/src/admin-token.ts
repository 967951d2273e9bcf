import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
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
  if (existsSync(file)) return { token: readFileSync(file, 'utf8').trim(), made: false };
  const token = `wat_${randomBytes(32).toString('base64url')}`;
  writeFileSync(file, `${token}\n`, { mode: 0o600, flag: 'wx' });
  return { token, made: true };
}
