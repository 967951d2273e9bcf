import { eventually } from '@weir/testkit/eventually';
import { useOpened } from '@weir/testkit/use-opened';
import type { Analytics, RecordsBatch, StreamOptions } from '../src/analytics.ts';

export interface AnalyticsUnderTest {
  readonly analytics: Analytics;
  close(): Promise<void>;
}

export interface AnalyticsContract {
  /** Opens an empty store; the contract migrates it. */
  open(): Promise<AnalyticsUnderTest>;
  /** Makes a batch of `rows` records of this site, in log `log-contract` and partition 0. Its first raw offset is `from`. */
  batch(site: string, from: number, rows: number): RecordsBatch;
}

/** The tests that every implementation of the port `Analytics` passes. */
export function describeAnalytics(name: string, contract: AnalyticsContract): void {
  describe(`Analytics: ${name}`, () => {
    let analytics: Analytics;

    const opened = useOpened(() => contract.open());
    beforeAll(async () => {
      ({ analytics } = opened);
    });

    const count = async (site: string): Promise<number> => {
      const query = 'SELECT count() AS n FROM events WHERE site_id = {site:String}';
      return Number((await analytics.select<{ n: number }>(query, { site }))[0]?.n);
    };

    it('migrates concurrently and repeatedly', async () => {
      await Promise.all([analytics.migrate(), analytics.migrate(), analytics.migrate()]);
      await analytics.migrate();
      expect(await count('none')).toBe(0);
    });

    it('returns the highest stored raw offset, -1 if there is none', async () => {
      expect(await analytics.highestRawOffset('log-contract', 0)).toBe(-1);
      await analytics.insertRecords(contract.batch('offsets', 0, 10));
      expect(await analytics.highestRawOffset('log-contract', 0)).toBe(9);
      expect(await analytics.highestRawOffset('log-contract', 1)).toBe(-1);
      expect(await analytics.highestRawOffset('log-other', 0)).toBe(-1);
    });

    it('stores a batch once when it is inserted several times', async () => {
      const batch = contract.batch('again', 100, 50);
      await Promise.all([analytics.insertRecords(batch), analytics.insertRecords(batch)]);
      await analytics.insertRecords(batch);
      expect(await count('again')).toBe(50);
    });

    it('stores the same rows again under another token', async () => {
      const batch = contract.batch('token', 200, 5);
      await analytics.insertRecords(batch);
      await analytics.insertRecords({ ...batch, token: `${batch.token}-other` });
      expect(await count('token')).toBe(10);
    });

    it('stores a batch only if the tables have the generation of the batch', async () => {
      const generation = await analytics.generation();
      const batch = contract.batch('generation', 400, 5);
      for (const other of [generation + 1, generation + 10]) {
        const insert = analytics.insertRecords({ ...batch, generation: other });
        await expect(insert).rejects.toMatchObject({ code: 'generation_changed' });
      }
      expect(await count('generation')).toBe(0);
      await analytics.insertRecords({ ...batch, generation });
      await analytics.insertRecords({ ...batch, generation });
      expect(await count('generation')).toBe(5);
    });

    it('refuses a batch with a generation if one of its rows has a value too few or too many', async () => {
      const { lines, ...rest } = contract.batch('values', 500, 3);
      const generation = await analytics.generation();
      for (const values of [rest.columns.length - 1, rest.columns.length + 1]) {
        const wrong = Buffer.from(`${JSON.stringify(Array.from({ length: values }, () => ''))}\n`);
        const insert = analytics.insertRecords({ ...rest, lines: [...lines, wrong], generation });
        await expect(insert).rejects.toMatchObject({ name: 'DependencyError' });
      }
      expect(await count('values')).toBe(0);
    });

    it('refuses a whole batch for one invalid row, and the error does not quote the row', async () => {
      const { lines, ...rest } = contract.batch('refused', 300, 3);
      const secret = 'secret@example.com';
      const wrong = Buffer.from(`${JSON.stringify(rest.columns.map(() => secret))}\n`);
      const insert = analytics.insertRecords({ ...rest, lines: [...lines, wrong] });
      const error: unknown = await insert.then(
        () => undefined,
        (reason: unknown) => reason,
      );
      expect(error).toMatchObject({ name: 'DependencyError', code: 'analytics_refused' });
      expect(JSON.stringify(error, Object.getOwnPropertyNames(error))).not.toContain(secret);
      expect(await count('refused')).toBe(0);
      await analytics.insertRecords({ ...rest, lines });
      expect(await count('refused')).toBe(3);
    });

    it('returns columns, types and rows of a query', async () => {
      const result = await analytics.userQuery('SELECT {n:UInt64} AS n, {s:String} AS s, 18446744073709551615 AS big', {
        n: 5,
        s: "it's\ta\\tab\n",
      });
      expect(result).toEqual({
        columns: [
          { name: 'n', type: 'UInt64' },
          { name: 's', type: 'String' },
          { name: 'big', type: 'UInt64' },
        ],
        rows: [{ n: 5, s: "it's\ta\\tab\n", big: '18446744073709551615' }],
      });
    });

    it.each([
      'SELECT',
      'SELECT nothing FROM nowhere',
      'INSERT INTO records (site_id) VALUES (1)',
      "SELECT file('/etc/passwd')",
      'SELECT * FROM numbers(100001)',
      'SELECT {missing:String}',
      'SELECT 1 SETTINGS max_threads = 1',
    ])('refuses the user query %s', async (query) => {
      await expect(analytics.userQuery(query, {})).rejects.toMatchObject({ code: 'analytics_refused' });
    });

    it('returns up to 100,000 rows', async () => {
      expect((await analytics.userQuery('SELECT number FROM numbers(100000)', {})).rows).toHaveLength(100_000);
    });

    it('cancels a user query when the signal aborts', async () => {
      const running = async (): Promise<number> => {
        const [row] = await analytics.select<{ n: string | number }>(
          "SELECT count() AS n FROM system.processes WHERE query LIKE '%cancelled_by_signal%' AND query NOT LIKE '%system.processes%'",
        );
        return Number(row?.n);
      };
      const abort = new AbortController();
      const query = analytics.userQuery(
        'SELECT sum(cityHash64(number)) AS cancelled_by_signal FROM numbers(1000000000000000)',
        {},
        { signal: abort.signal },
      );
      const ended = expect(query).rejects.toMatchObject({ name: 'DependencyError' });
      await eventually('the query to run', async () => (await running()) === 1);
      abort.abort();
      await ended;
      await eventually('the query to be cancelled', async () => (await running()) === 0);
    });

    const streamed = async (query: string, params: object, format: StreamOptions['format']): Promise<Buffer> => {
      const answer = await analytics.streamQuery(query, { ...params }, { format, secondsMax: 60 });
      return Buffer.concat(await answer.toArray());
    };

    it('streams an answer as one file of its format', async () => {
      const query = 'SELECT number AS n, {s:String} AS s FROM numbers({rows:UInt64})';
      const rows = 100_000;
      const s = "it's\ta\\tab\n";
      const csv = (await streamed(query, { s, rows }, 'CSVWithNames')).toString();
      expect(csv.match(/"n","s"\n/g)).toHaveLength(1);
      const lines = (await streamed(query, { s, rows }, 'JSONEachRow')).toString().trimEnd().split('\n');
      expect([lines.length, JSON.parse(lines.at(-1) ?? '')]).toEqual([rows, { n: rows - 1, s }]);
      const parquet = (await streamed(query, { s, rows }, 'Parquet')).toString('latin1');
      expect([parquet.startsWith('PAR1'), parquet.endsWith('PAR1'), parquet.match(/PAR1/g)?.length]).toEqual([
        true,
        true,
        2,
      ]);
      expect(await streamed(query, { s, rows: 0 }, 'JSONEachRow')).toHaveLength(0);
    });

    it('refuses a streamed query that is wrong or writes, and one that fails on the way errors', async () => {
      await expect(streamed('SELECT nothing FROM nowhere', {}, 'JSONEachRow')).rejects.toMatchObject({
        name: 'DependencyError',
      });
      await expect(streamed('INSERT INTO records (site_id) VALUES (1)', {}, 'JSONEachRow')).rejects.toThrow();
      expect(await count('1')).toBe(0);
      const late = 'SELECT number, throwIf(number = 3000000) FROM numbers(4000000)';
      await expect(streamed(late, {}, 'JSONEachRow')).rejects.toThrow();
    });

    it('a streamed answer without a reader delays no other query, and can be left', async () => {
      const query = 'SELECT number FROM numbers(1000000000000)';
      const endless = await analytics.streamQuery(query, {}, { format: 'JSONEachRow', secondsMax: 600 });
      await expect(analytics.ping()).resolves.toBeUndefined();
      endless.destroy();
    });

    it('cancels a streamed query when the signal aborts before its first byte', async () => {
      const running = async (): Promise<number> => {
        const [row] = await analytics.select<{ n: string | number }>(
          "SELECT count() AS n FROM system.processes WHERE query LIKE '%left_by_signal%' AND query NOT LIKE '%system.processes%'",
        );
        return Number(row?.n);
      };
      const abort = new AbortController();
      const query = 'SELECT sum(cityHash64(number)) AS left_by_signal FROM numbers(1000000000000000)';
      const options = { format: 'JSONEachRow', secondsMax: 600, signal: abort.signal } as const;
      const ended = expect(analytics.streamQuery(query, {}, options)).rejects.toMatchObject({
        name: 'DependencyError',
      });
      await eventually('the query to run', async () => (await running()) === 1);
      abort.abort();
      await ended;
      await eventually('the query to be cancelled', async () => (await running()) === 0);
    });

    it('`ping` and `responds` resolve', async () => {
      await expect(analytics.ping()).resolves.toBeUndefined();
      await expect(analytics.responds(10_000)).resolves.toBeUndefined();
    });
  });
}
