import { encodeRawRecord } from '@weir/domain/records/raw-record';
import { TOPIC_RAW } from '@weir/domain/records/topics';
import { eventually } from '@weir/testkit/eventually';
import { cli } from './cli-harness.ts';
import { useControl } from './use-control.ts';

const { weir, env } = useControl();

const run = (...args: string[]) => cli(['topics', ...args], { env });
const lines = (text: string) => text.split('\n').filter((line) => line !== '');

let appended = 0;
async function append(siteId: string, names: readonly string[]): Promise<void> {
  const records = names.map((name) => {
    const head = {
      eventId: `0199d1a5-7c00-7000-8000-${String(++appended).padStart(12, '0')}`,
      kind: 'event',
      siteId,
      receivedAt: Date.now(),
      sealedIp: `1${'A'.repeat(32)}`,
      userAgent: '',
      acceptLanguage: '',
    } as const;
    return { partition: appended % 2, value: encodeRawRecord(head, JSON.stringify({ name, visitor_id: 'v' })) };
  });
  await weir.eventLog.append(TOPIC_RAW, records);
}

test('list: one line for each partition, and one for a table', async () => {
  const { exitCode, out } = await run('list');
  expect(exitCode).toBe(0);
  expect(lines(out)[0]).toMatch(
    /^topic +partition +records +first offset +end offset +first record +last record +kept$/,
  );
  expect(lines(out).length).toBe(1 + 2 * 4 + 2);
  expect(out).toMatch(/^events\.raw +0 +0 +0 +0 +72 h$/m);
  expect(out).toMatch(/^salts +last row of each key$/m);
});

test('tail prints the newest 20 records without empty columns and addresses; --limit and --site', async () => {
  await append(
    'shop',
    Array.from({ length: 30 }, (_, i) => `e${i}`),
  );
  const { exitCode, out, err } = await run('tail', 'events.raw');
  expect([exitCode, lines(out).length, err]).toEqual([0, 20, '']);
  expect(lines(out)[0]).toMatch(
    /^\d{4}-\S+Z [01]\/\d+ \{"eventId":".*"kind":"event","siteId":"shop".*"body":\{"name":"e\d+"/,
  );
  expect(out).not.toMatch(/sealedIp|AAAA|acceptLanguage/);
  expect(lines((await run('tail', 'events.raw', '-n', '3', '--site', 'shop')).out).length).toBe(3);
  const none = await run('tail', 'events.raw', '--site', 'absent', '-n', '5');
  expect([none.exitCode, none.out, none.err]).toEqual([
    0,
    '',
    'weir: no records of absent among the newest 10: --since 1h looks further back\n',
  ]);
});

test('tail --since --json prints every record since a time as JSON lines, from several pages', async () => {
  await append(
    'many',
    Array.from({ length: 2500 }, (_, i) => `m${i}`),
  );
  const { exitCode, out } = await run('tail', 'events.raw', '--since', '1h', '--site', 'many', '--json');
  expect(exitCode).toBe(0);
  const names = lines(out).map((line) => JSON.parse(line).record.body.name);
  expect(new Set(names).size).toBe(2500);
});

test('tail --follow prints new records until the limit', async () => {
  const following = run('tail', 'events.raw', '--follow', '--site', 'followed', '-n', '3');
  await append('followed', ['f1']);
  await append('followed', ['f2', 'f3', 'f4']);
  const { exitCode, out } = await following;
  expect([exitCode, lines(out).length]).toEqual([0, 3]);
});

test('a damaged record gives one line; control characters do not reach the terminal', async () => {
  await weir.eventLog.append(TOPIC_RAW, [{ partition: 0, value: Buffer.from([27, 91, 255]) }]);
  await append('odd', ['\u001b[31m\u009b\u202e']);
  const { out } = await run('tail', 'events.raw', '--since', '1h');
  expect(out).toMatch(/ 0\/\d+ \[3 bytes not shown\] events\.raw: the value \(3 bytes\) is not JSON in UTF-8\n/);
  expect(out).toContain('"name":"\\u001b[31m\\u009b\\u202e"');
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the expression matches control characters
  expect(out).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/);
});

test('events.enriched has named columns; the registry is a list of rows', async () => {
  await run('list');
  const row = await eventually('an outcome', async () => (await run('tail', 'events.enriched', '-n', '1')).out);
  expect(row).toMatch(/"outcome":"\w+"/);
  await weir.call('POST', '/sites', { name: 'N', domain: 'example.com', site_id: 'reg' });
  const registry = await run('tail', 'registry');
  expect(lines(registry.out)).toEqual([expect.stringMatching(/^\{"key":"site\/reg","value":\{/)]);
  const follow = await run('tail', 'registry', '--follow');
  expect([follow.exitCode, follow.err]).toEqual([
    1,
    expect.stringMatching(/^weir: registry is a table of current rows/),
  ]);
});

test.each([
  [['tail', 'salts'], 1, /^weir: salts cannot be read: /],
  [['tail', 'a/b'], 1, /^weir: topic not found: the topics are events\.raw, /],
  [['tail', 'events.raw', '--since', '2099-01-01'], 1, /^weir: since is in the future/],
  [['tail', 'events.raw', '--site', ''], 1, /^weir: site must match /],
  [['tail', 'events.raw', '--limit', '0'], 2, /it must be a whole number/],
  [['tail'], 2, /missing required argument/],
])('%j ends with %i', async (args, exitCode, message) => {
  const ended = await run(...args);
  expect([ended.exitCode, ended.out, ended.err]).toEqual([exitCode, '', expect.stringMatching(message)]);
});

test('--help explains both commands', async () => {
  expect((await run('--help')).out).toMatch(/tail[\s\S]*list|list[\s\S]*tail/);
  expect((await run('tail', '--help')).out).toMatch(/--since <time>[\s\S]*--follow[\s\S]*--limit <count>/);
});
