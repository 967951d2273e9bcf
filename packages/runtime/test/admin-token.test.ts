import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { adminTokenFile, readOrMakeAdminToken } from '../src/admin-token.ts';

let dataDir = '';
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'weir-token-'));
});
afterEach(() => rmSync(dataDir, { recursive: true }));

describe('decisions, WEIR_ADMIN_TOKEN: "made at the first start, kept in the data folder with mode 600, printed once"', () => {
  test('is made once, whole, and nothing else is left beside it', () => {
    const { token, made } = readOrMakeAdminToken(undefined, dataDir);
    expect([made, token]).toEqual([true, expect.stringMatching(/^wat_\S{43}$/)]);
    expect(readOrMakeAdminToken(undefined, dataDir)).toEqual({ token, made: false });
    expect(readdirSync(dataDir)).toEqual(['admin-token']);
    expect(statSync(adminTokenFile(dataDir)).mode & 0o777).toBe(0o600);
  });

  test('an empty file, which a crash or a full disk leaves, is none: nobody could sign in with it', () => {
    writeFileSync(adminTokenFile(dataDir), '\n', { mode: 0o644 });
    const { token, made } = readOrMakeAdminToken(undefined, dataDir);
    expect([made, token]).toEqual([true, expect.stringMatching(/^wat_/)]);
    expect(readFileSync(adminTokenFile(dataDir), 'utf8').trim()).toBe(token);
    expect(statSync(adminTokenFile(dataDir)).mode & 0o777).toBe(0o600);
  });
});
