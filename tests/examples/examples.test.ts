import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { PROJECT_ROOT, startWeir, type WeirProcess } from '@weir/testkit/weir-process';

const run = promisify(execFile);

// The page of examples/browser.html is opened by tests/browser/demo.test.ts.
describe('the examples, as they stand in examples/', () => {
  let weir: WeirProcess;
  let key: string;
  let siteId: string;
  beforeAll(async () => {
    weir = await startWeir();
    siteId = await weir.client.createSite();
    key = (await weir.client.createKey(siteId)).key;
  }, 120_000);
  afterAll(() => weir.stop(), 60_000);

  test.each([
    ['Node', process.execPath, ['--import', 'tsx', 'examples/node.ts']],
    ['curl', 'bash', ['examples/curl.sh', 'once']],
    ['curl again, with the key it had', 'bash', ['examples/curl.sh', 'once']],
    ['Python', 'python3', ['examples/python.py']],
  ])('%s', async (_name, program, args) => {
    const env = { ...process.env, WEIR_URL: weir.url, WEIR_KEY: key };
    await run(program, args, { cwd: join(PROJECT_ROOT), env });
  });

  test('three rows came out: the repeated one is stored once', async () => {
    await weir.client.rows('events', siteId, 3);
    await weir.client.settled();
    const rows = await weir.client.rows('events', siteId, 3, 'event_name, user_id, value');
    expect(rows).toEqual(Array(3).fill({ event_name: 'signup', user_id: 'ada', value: 49 }));
  });
});
