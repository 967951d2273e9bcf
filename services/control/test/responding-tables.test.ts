import { DependencyError } from '@weir/domain/errors';
import { eventually } from '@weir/testkit/eventually';
import { useOpened } from '@weir/testkit/use-opened';
import { openControlHarness } from './control-harness.ts';

// No machine ends this query within its time limit.
const LONG = 'SELECT sum(cityHash64(number)) AS takes_long FROM numbers(1000000000000000)';

describe('calls of the admin API while ClickHouse does not respond', () => {
  const weir = useOpened(openControlHarness, { openMs: 120_000 });
  beforeAll(async () => {
    await weir.call('POST', '/sites', { site_id: 'hung', name: 'Hung', domain: 'example.com' });
    await weir.call('GET', '/sites/hung/stats');
  }, 120_000);

  test('get 503 that says what to do, and work again when ClickHouse continues', async () => {
    const pid = weir.clickhousePid();
    process.kill(pid, 'SIGSTOP');
    try {
      const calls = ['/sites/hung/stats?period=7d', '/sites/hung/export/events?format=csv', '/dead-letters', '/audit'];
      const sql = weir.call('POST', '/sql', { query: 'SELECT 1' });
      for (const { status, headers, body } of await Promise.all([
        sql,
        ...calls.map((path) => weir.call('GET', path)),
      ])) {
        expect([status, body.error?.message]).toEqual([503, expect.stringContaining('ClickHouse does not respond')]);
        expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
      }
      // Calls that begin later fail as well.
      expect((await weir.call('GET', '/sites/hung/stats?period=30d')).status).toBe(503);
      // Calls that do not need ClickHouse are answered.
      expect((await weir.call('GET', '/sites')).status).toBe(200);
    } finally {
      process.kill(pid, 'SIGCONT');
    }
    await eventually('reports', async () => (await weir.call('GET', '/sites/hung/stats?period=today')).status === 200);
  });

  test('a store that responds is given the time that a query needs', async () => {
    const reply = weir.call('POST', '/sql', { query: LONG });
    // This query ends by its own time limit, which is longer than the time within which ClickHouse must respond.
    expect(await reply).toMatchObject({
      status: 400,
      body: { error: { message: expect.stringContaining('took longer') } },
    });
  });

  test('the store responds while it is busy, and rejects when it is stopped', async () => {
    await weir.analytics.responds(10_000);
    const pid = weir.clickhousePid();
    process.kill(pid, 'SIGSTOP');
    try {
      await expect(weir.analytics.responds(100)).rejects.toBeInstanceOf(DependencyError);
    } finally {
      process.kill(pid, 'SIGCONT');
    }
    await weir.analytics.responds(10_000);
  });
});
