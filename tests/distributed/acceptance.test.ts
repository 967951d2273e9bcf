import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PROJECT_ROOT, TEST_ADMIN_TOKEN } from '@weir/testkit/weir-process';
import { ACCEPTANCE_ENV } from '../acceptance/use-weir.ts';
import { say } from '../faults/exactly-once.ts';
import { describeDistributed } from './deployment.ts';

/**
 * Groups of acceptance tests that cannot run on this deployment, each with the reason. Most of them start their own process, to
 * check its start, its settings or its data folder.
 */
const NOT_OF_A_DEPLOYMENT = [
  ['the first npm start', 'it needs an empty data folder, which this deployment does not have'],
  ['a wrong setting stops the start', 'it starts a process for each wrong setting'],
  ['WEIR_DATA_DIR', 'it starts two processes on one data folder'],
  ['LOG_LEVEL: logs are JSON', 'it starts a process with that setting, to read all its output'],
  ['the client IP is on disk', 'it reads the data folder of its own process'],
  ['SIGTERM drains', 'it starts its own process with npm'],
  ['the dashboard with another method', 'control serves it, and the suite sends its requests to the gateways'],
  ['forgetting in a process of its own', 'it kills its process, and reads the data folder'],
  ['weir export everything, then weir import another Weir', 'it starts a process, to import into another Weir'],
  ['an export of many events', 'it starts a process, to export and import many events without other tests beside it'],
  ['after a restart', 'gateways.test.ts restarts every role of a deployment'],
  [
    'rate limits (defaults)',
    'the deployment has other limits; gateways.test.ts tests the default limits with two gateways',
  ],
  ['each rate limit can be changed by configuration', 'it starts a process with other limits'],
  ['a CDN whose header is named by CLIENT_IP_HEADER', 'it starts a process with that setting'],
  ['two gateway processes on one port', 'gateway-processes-on-services.test.ts tests them with Kafka and Redis'],
  ['the end of Weir with gateway processes', 'it stops its own process'],
  ['an archive that cannot be written', 'it starts a process with an archive of its own'],
] as const;

interface Report {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly numRuntimeErrorTestSuites: number;
  readonly testResults: readonly {
    readonly message: string;
    readonly assertionResults: readonly {
      readonly status: string;
      readonly fullName: string;
      readonly failureMessages: readonly string[];
    }[];
  }[];
}

describeDistributed(
  'the acceptance suite on 2 gateways, 2 enrichers, 2 writers and control',
  ACCEPTANCE_ENV,
  (weir) => {
    test('the acceptance suite passes without changes', async () => {
      const report = await runSuite(weir().client.urls);
      const results = report.testResults.flatMap((file) => file.assertionResults);
      const skipped = results.filter(({ status }) => status === 'pending');
      for (const [group, reason] of NOT_OF_A_DEPLOYMENT) {
        const count = skipped.filter(({ fullName }) => fullName.startsWith(group)).length;
        say(`acceptance, distributed: ${count} of "${group}" left out: ${reason}`);
      }
      say(`acceptance, distributed: ${report.numPassedTests} passed, ${skipped.length} left out`);
      const failed = results.filter(({ status }) => status === 'failed');
      expect(failed.map(({ fullName, failureMessages }) => `${fullName}\n${failureMessages.join('\n')}`)).toEqual([]);
      expect(report.testResults.filter((file) => file.assertionResults.length === 0)).toEqual([]);
      expect(
        skipped.filter(({ fullName }) => !NOT_OF_A_DEPLOYMENT.some(([group]) => fullName.startsWith(group))),
      ).toEqual([]);
      expect(report.numPassedTests).toBeGreaterThan(300);
      await weir().client.settled();
      expect(await weir().client.audit()).toEqual([]);
    }, 1_800_000);
  },
);

async function runSuite(urls: readonly string[]): Promise<Report> {
  const folder = mkdtempSync(join(tmpdir(), 'weir-acceptance-'));
  const file = join(folder, 'report.json');
  const { JEST_WORKER_ID: _, ...env } = process.env;
  const args = [
    join(PROJECT_ROOT, 'node_modules/jest/bin/jest.js'),
    'tests/acceptance',
    '--json',
    '--outputFile',
    file,
  ];
  const child = spawn(process.execPath, args, {
    cwd: PROJECT_ROOT,
    env: { ...env, WEIR_ACCEPTANCE_URL: urls.join(','), WEIR_ADMIN_TOKEN: TEST_ADMIN_TOKEN },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const printed: Buffer[] = [];
  child.stderr.on('data', (chunk: Buffer) => printed.push(chunk));
  await new Promise((resolve) => child.once('close', resolve));
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Report;
  } catch (error) {
    throw new Error(`the suite ended without a report:\n${Buffer.concat(printed).toString().slice(-4_000)}`, {
      cause: error,
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
