import { encodeRawRecord } from '@weir/domain/records/raw-record';
import { TOPIC_RAW } from '@weir/domain/records/topics';
import { eventually } from '@weir/testkit/eventually';
import { cli } from './cli-harness.ts';
import { useControl } from './use-control.ts';

const { weir, env } = useControl();
beforeAll(async () => {
  await weir.call('POST', '/sites', { name: 'shop', domain: 'example.com', site_id: 'shop' });
  await weir.command("ALTER TABLE weir.records ADD CONSTRAINT no_bad CHECK NOT startsWith(event_name, 'bad')");
  const records = ['bad-1', 'bad-2', 'bad-3'].map((name, nth) => {
    const head = {
      eventId: `00000000-0000-7000-8000-00000000000${nth}`,
      kind: 'event',
      siteId: 'shop',
      receivedAt: Date.now(),
      sealedIp: '',
      userAgent: '',
      acceptLanguage: '',
    } as const;
    const body = { name, visitor_id: 'v', properties: { mail: 'ada@example.com', odd: '\u001b[31m' } };
    return { partition: 0, value: encodeRawRecord(head, JSON.stringify(body)) };
  });
  await weir.eventLog.append(TOPIC_RAW, [...records, { partition: 1, value: Buffer.from('nonsense') }]);
  await eventually('the dead letters', async () => {
    const [row] = await weir.analytics.select<{ n: number }>('SELECT count() AS n FROM dead_letters');
    return Number(row?.n) === 4;
  });
});

const run = (...args: string[]) => cli(['dead-letters', ...args], { env });

test('list and show', async () => {
  const all = await run('list');
  expect(all.out).toMatch(/^letter +site +stage +reason +failed at +attempts +error$/m);
  expect(all.out.match(/row_refused/g)).toHaveLength(3);
  const { json } = await run('list', '--where', 'stage=enricher', '--json');
  expect(json).toMatchObject({ total: 1, letters: [{ site_id: '', reason: 'unreadable' }] });
  expect((await run('list', '-n', '2')).out).toMatch(/^2 of 4: --limit prints more$/m);
  expect((await run('list', '-w', 'site=none')).out).toBe('no dead letters\n');
  const [letter] = (await run('list', '-w', 'stage=writer', '-w', 'since=1h', '--json')).json.letters;
  const { out } = await run('show', letter.letter_id);
  expect(out).toMatch(/bad-1/);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the expression matches a control character
  expect(out).not.toMatch(/ada@example|\u001b/);
  const unknown = await run('show', 'x.0.1');
  expect([unknown.exitCode, unknown.err]).toEqual([1, 'weir: dead letter not found\n']);
});

test('redrive: wrong usage, a dry run, letters that fail again, and letters that succeed', async () => {
  for (const args of [[], ['--all', '--where', 'site=shop'], ['--where', 'colour=red'], ['--where', 'site']]) {
    expect((await run('redrive', ...args)).exitCode).toBe(2);
  }
  const dry = await run('redrive', '--where', 'stage=writer', '--dry-run');
  expect([dry.exitCode, dry.out]).toEqual([0, '3 dead letters (dry run): 3 would redrive\n']);
  const failed = await run('redrive', '--all');
  expect(failed.exitCode).toBe(1);
  expect(failed.out).toMatch(/refused +its bytes are not a raw record/);
  expect(failed.out).toMatch(/^4 dead letters: 3 dead, 1 refused$/m);
  await weir.command('ALTER TABLE weir.records DROP CONSTRAINT no_bad');
  const done = await run('redrive', '--where', 'error=CONSTRAINT');
  expect([done.exitCode, done.out]).toEqual([0, '3 dead letters: 3 stored\n']);
  expect((await run('redrive', '--where', 'stage=writer')).out).toBe('no dead letters match\n');
  const audit = await cli(['audit'], { env });
  expect([audit.exitCode, /^redriven +6$/m.test(audit.out)]).toEqual([0, true]);
  expect((await run('redrive', '--help')).out).toContain('--dry-run');
});
