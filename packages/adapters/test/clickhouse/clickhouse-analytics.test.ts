import type { RecordsBatch } from '@weir/ports/analytics';
import { eventually } from '@weir/testkit/eventually';
import { describeAnalytics } from '../../../ports/contract/analytics.contract.ts';
import { openClickhouseAnalytics } from '../../src/clickhouse/clickhouse-analytics.ts';
import { batch, openClickhouseUnderTest, openEmbeddedUnderTest } from './clickhouse-harness.ts';

describeAnalytics('ClickHouse, embedded', {
  open: openClickhouseUnderTest,
  batch: (site, from, rows) =>
    batch(
      from,
      Array.from({ length: rows }, () => ({ site_id: site, log_id: 'log-contract' })),
    ),
});

describe('the embedded ClickHouse', () => {
  let opened: Awaited<ReturnType<typeof openEmbeddedUnderTest>>;
  beforeAll(async () => {
    opened = await openEmbeddedUnderTest();
    await opened.analytics.migrate();
  });
  afterAll(() => opened.close());

  it('keeps acknowledged inserts when it is killed, and stores a repeated insert once', async () => {
    const { analytics, clickhouse } = opened;
    const rows = Array.from({ length: 20 }, () => ({ session_id: 's', visitor_id: 'v', site_id: 'killed' }));
    let next = 0;
    let kills = 0;
    let failures = 0;
    const insertAll = async (): Promise<void> => {
      while (kills < 4) {
        const from = next;
        next += rows.length;
        const planned = batch(from, rows);
        // Repeats the same batch with the same token until ClickHouse acknowledges it, as the writer does.
        await eventually('acknowledged', () =>
          insertTwice(planned).then(
            () => true,
            (error: unknown) => {
              failures += 1;
              expect(error).toMatchObject({ code: 'analytics_unavailable' });
              return false;
            },
          ),
        );
      }
    };
    const insertTwice = async (planned: RecordsBatch): Promise<void> => {
      await analytics.insertRecords(planned);
      await analytics.insertRecords(planned);
    };
    const killAll = async (): Promise<void> => {
      for (; kills < 4; kills += 1) {
        const before = next;
        await eventually('some inserts', () => next > before + 100);
        process.kill((await eventually('a child', () => clickhouse.pid())) as number, 'SIGKILL');
        await clickhouse.ready();
      }
    };
    await Promise.all([insertAll(), insertAll(), insertAll(), killAll()]);

    expect(failures).toBeGreaterThan(0);
    const query = `SELECT
      (SELECT count() FROM events WHERE site_id = 'killed') AS stored,
      (SELECT uniqExact(raw_offset) FROM events WHERE site_id = 'killed') AS offsets,
      (SELECT sum(records) FROM books WHERE site_id = 'killed') AS booked,
      (SELECT sum(pageviews) FROM sessions WHERE site_id = 'killed') AS viewed`;
    const counts = (await analytics.userQuery(query, {})).rows[0];
    expect(counts).toEqual({ stored: next, offsets: next, booked: next, viewed: next });
  });

  it('a wrong password is `analytics_unavailable`, not `analytics_refused`', async () => {
    const { url, username } = opened.clickhouse;
    const stranger = openClickhouseAnalytics({ url, username, password: 'wrong', migrationsDir: '/nowhere' });
    await expect(stranger.insertRecords(batch(0, [{}]))).rejects.toMatchObject({ code: 'analytics_unavailable' });
    await expect(stranger.select('SELECT 1')).rejects.toMatchObject({ code: 'analytics_unavailable' });
    await stranger.close();
  });

  it('a streamed query can answer later than the limit of other requests', async () => {
    const hasty = openClickhouseAnalytics({ ...opened.clickhouse, migrationsDir: '/nowhere', requestTimeoutMs: 1000 });
    const slow = 'SELECT count() AS n FROM numbers(4) WHERE sleepEachRow(0.6) = 0';
    await expect(hasty.select(slow)).rejects.toMatchObject({ code: 'analytics_unavailable' });
    const answer = await hasty.streamQuery(slow, {}, { format: 'JSONEachRow', secondsMax: 60 });
    expect(JSON.parse(Buffer.concat(await answer.toArray()).toString())).toEqual({ n: 4 });
    await hasty.close();
  });

  it('a closed port is `analytics_unavailable`', async () => {
    const gone = openClickhouseAnalytics({
      url: 'http://127.0.0.1:9',
      username: 'w',
      password: 'w',
      migrationsDir: '/nowhere',
    });
    await expect(gone.insertRecords(batch(0, [{}]))).rejects.toMatchObject({ code: 'analytics_unavailable' });
    await expect(gone.ping()).rejects.toMatchObject({ code: 'analytics_unavailable' });
    await expect(gone.userQuery('SELECT 1', {})).rejects.toMatchObject({ code: 'analytics_unavailable' });
    await gone.close();
  });
});
