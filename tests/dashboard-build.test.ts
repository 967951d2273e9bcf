import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runModule } from './run-module.ts';

describe('the build of the dashboard', () => {
  test('the first load has at most 200 KB after gzip, and no file is loaded from elsewhere', () => {
    const folder = mkdtempSync(join(tmpdir(), 'weir-dashboard-'));
    try {
      const size = runModule(`
        import { buildDashboard } from './scripts/build-dashboard.mjs';
        console.log(JSON.stringify(await buildDashboard(process.cwd(), ${JSON.stringify(folder)})));`) as {
        gzipBytes: number;
      };
      expect(size.gzipBytes).toBeLessThanOrEqual(200 * 1024);
      const html = readFileSync(join(folder, 'index.html'), 'utf8');
      expect(html).not.toMatch(/<script(?![^>]*\bsrc=)|<style|\sstyle=|\bon\w+=/);
      expect(
        [...html.matchAll(/(?:src|href)="([^"]*)"/g)]
          .map((match) => match[1])
          .filter((url) => !/^(\/dashboard\/assets\/|data:)/.test(url ?? '')),
      ).toEqual([]);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  test('the types of the admin API are those of the OpenAPI document: node --import tsx scripts/generate-admin-types.mjs', () => {
    const { file, types } = runModule(`
      import { openApiDocument } from './services/host/src/openapi-document.ts';
      import { ADMIN_TYPES_FILE, adminTypes } from './scripts/admin-types.mjs';
      console.log(JSON.stringify({ file: ADMIN_TYPES_FILE, types: adminTypes(openApiDocument([])) }));`) as {
      file: string;
      types: string;
    };
    expect(readFileSync(file, 'utf8')).toBe(types);
  });
});
