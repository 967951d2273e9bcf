import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { localProblem } from '@weir/testkit/live-local';
import { ROOT, readJson } from './read-files.ts';

const problem = localProblem('kafka') ?? localProblem('redis');

(problem === undefined ? describe : describe.skip)(
  `npm run services:up${problem === undefined ? '' : `: ${problem}`}`,
  () => {
    const dir = mkdtempSync(join(tmpdir(), 'weir-services-'));
    const services = (command: string, ...more: string[]) => {
      const args = ['run', '--silent', `services:${command}`, '--', '--dir', dir, ...more];
      const { status, stdout, stderr } = spawnSync('npm', args, { cwd: ROOT, encoding: 'utf8' });
      return { status, stdout, stderr };
    };
    afterAll(() => {
      services('down', '--wipe');
      rmSync(dir, { recursive: true, force: true });
    });

    test('up prints exactly three lines `export NAME=value`, and the same lines again; then status and down', () => {
      const { scripts } = readJson<{ scripts: Record<string, string> }>('package.json');
      expect(Object.keys(scripts)).toEqual(expect.arrayContaining(['services:up', 'services:down', 'services:status']));
      const first = services('up');
      expect(first.stdout).toMatch(
        /^export KAFKA_BROKERS=127\.0\.0\.1:\d+\nexport REDIS_URL=redis:\/\/127\.0\.0\.1:\d+\nexport CLICKHOUSE_URL=http:\/\/\S+@127\.0\.0\.1:\d+\n$/,
      );
      expect(first.status).toBe(0);
      expect(services('up')).toMatchObject({ status: 0, stdout: first.stdout });
      expect(services('status')).toMatchObject({ status: 0, stdout: '' });
      expect(services('down')).toMatchObject({ status: 0, stdout: '' });
      expect(services('status')).toMatchObject({ status: 1, stdout: '' });
    }, 180_000);
  },
);
