import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { adminTokenFile, readOrCreateAdminToken } from '../src/config/admin-token.ts';

let dataDir = '';
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'weir-token-'));
});
afterEach(() => rmSync(dataDir, { recursive: true }));

describe('the admin token is created at the first start and stored in the data folder with mode 600', () => {
  test('is created once, and no temporary file remains', () => {
    const { token, created } = readOrCreateAdminToken(undefined, dataDir);
    expect([created, token]).toEqual([true, expect.stringMatching(/^wat_\S{43}$/)]);
    expect(readOrCreateAdminToken(undefined, dataDir)).toEqual({ token, created: false });
    expect(readdirSync(dataDir)).toEqual(['admin-token']);
    expect(statSync(adminTokenFile(dataDir)).mode & 0o777).toBe(0o600);
  });

  test('an empty file, as left by a crash or a full disk, is replaced', () => {
    writeFileSync(adminTokenFile(dataDir), '\n', { mode: 0o644 });
    const { token, created } = readOrCreateAdminToken(undefined, dataDir);
    expect([created, token]).toEqual([true, expect.stringMatching(/^wat_/)]);
    expect(readFileSync(adminTokenFile(dataDir), 'utf8').trim()).toBe(token);
    expect(statSync(adminTokenFile(dataDir)).mode & 0o777).toBe(0o600);
  });
});
