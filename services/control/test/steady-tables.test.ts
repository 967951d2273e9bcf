import { createSteadyTables, type ReadableTables } from '@weir/control/steady-tables';
import { DependencyError } from '@weir/domain/errors';
import type { Analytics } from '@weir/ports/analytics';
import { eventually } from '@weir/testkit/eventually';
import { batch, T0 } from '../../../packages/adapters/test/clickhouse/clickhouse-harness.ts';
import { type ControlHarness, openControlHarness } from './control-harness.ts';

const SHADOW = 'weir_shadow';
const SITE = 'steady';
/** The number of visits and of dropped hits in each of the two generations. */
const SIZES = [10, 25];

describe('docs/exactly-once.md: no answer mixes two generations of the tables', () => {
  let weir: ControlHarness;
  let shadow: ReturnType<ControlHarness['openTables']>;

  beforeAll(async () => {
    weir = await openControlHarness();
    await weir.registry.putSite({
      siteId: SITE,
      name: SITE,
      domain: 'example.com',
      timezone: 'UTC',
      limits: {},
      createdAt: 1,
    });
    shadow = weir.openTables(SHADOW);
    await shadow.migrate();
    for (const [index, analytics] of [weir.analytics, shadow].entries()) {
      const size = SIZES[index] ?? 0;
      const rows = Array.from({ length: size }, (_, i) => ({
        site_id: SITE,
        visitor_id: `v${i}`,
        session_id: `s_${i}`,
        pathname: '/page',
      }));
      const dropped = rows.map((row) => ({ ...row, outcome: 'dropped', reason: 'excluded_path' }));
      await analytics.insertRecords(batch(index * 1000, [...rows, ...dropped]));
    }
  }, 120_000);
  afterAll(async () => {
    await shadow.close();
    await weir.close();
  });

  const day = new Date(T0).toISOString().slice(0, 10);
  const report = `/sites/${SITE}/stats?from=${day}&to=${day}&explain=1`;
  const sizesOf = {
    async stats() {
      const { body } = await weir.call('GET', report);
      const { totals, explain } = body.data;
      const { left_out } = explain;
      return [totals.visitors, totals.visits, totals.pageviews, left_out.rows, left_out.never_stored[0].records];
    },
    async breakdown() {
      const { body } = await weir.call(
        'GET',
        `/sites/${SITE}/breakdown?from=${day}&to=${day}&dimension=page&explain=1`,
      );
      const { rows, explain } = body.data;
      return [rows[0].visitors, rows[0].visits, explain.left_out.rows, explain.left_out.never_stored[0].records];
    },
    async sql() {
      const query =
        "SELECT (SELECT count() FROM records WHERE site_id = {site:String} AND outcome = 'row') AS a, " +
        "(SELECT sum(records) FROM books WHERE site_id = {site:String} AND outcome = 'row') AS b, " +
        '(SELECT count() FROM sessions WHERE site_id = {site:String}) AS c';
      const { body } = await weir.call('POST', '/sql', { query, params: { site: SITE } });
      const [row] = body.data.rows;
      return [row.a, row.b, row.c].map(Number);
    },
  };

  test('reports, breakdowns and SQL while the tables are exchanged repeatedly', async () => {
    const seen = new Set<number>();
    let answers = 0;
    let stop = false;
    const reading = Object.values(sizesOf).map(async (read) => {
      while (!stop) {
        const sizes = await read();
        expect(new Set(sizes).size).toBe(1);
        seen.add(sizes[0] as number);
        answers++;
      }
    });
    for (let swaps = 0; swaps < 30; swaps++) {
      const before = answers;
      await weir.analytics.exchangeWith(SHADOW, (await weir.analytics.generation()) + 1);
      await eventually('an answer after the swap', () => answers > before);
    }
    stop = true;
    await Promise.all(reading);
    expect([...seen].sort()).toEqual(SIZES);
  }, 400_000);

  test('the audit and the pipeline can be read while the tables are exchanged', async () => {
    const swap = (async () => {
      for (let i = 0; i < 5; i++) {
        await weir.analytics.exchangeWith(SHADOW, (await weir.analytics.generation()) + 1);
      }
    })();
    for (let i = 0; i < 5; i++) {
      expect((await weir.call('GET', '/audit')).status).toBe(200);
      expect((await weir.call('GET', '/pipeline')).body.data[0].dead_letters).toBe(0);
    }
    await swap;
  }, 60_000);

  test('the cost: one look-up of the generation for each answer', async () => {
    let lookups = 0;
    const { analytics } = weir;
    const tables = createSteadyTables(
      {
        ...analytics,
        generation() {
          lookups++;
          return analytics.generation();
        },
      },
      Date.now,
    );
    for (let i = 0; i < 5; i++) await tables.read(({ select }) => select('SELECT 1'));
    expect(lookups).toBe(6);
  });
});

describe('what `read` does when the generation changes', () => {
  /**
   * Steady tables whose look-ups of the generation give these values in order, and after that always the last one. `undefined` stands for a
   * moment at which the tables are being exchanged.
   */
  function tablesOf(generations: readonly (number | undefined)[]) {
    let next = 0;
    return createSteadyTables(
      {
        async generation() {
          const generation = generations[Math.min(next++, generations.length - 1)];
          if (generation === undefined) throw new DependencyError('generation_changed', 'test');
          return generation;
        },
      } as ReadableTables & Pick<Analytics, 'generation'>,
      Date.now,
    );
  }

  test('it reads again, and returns the last result', async () => {
    let calls = 0;
    expect(await tablesOf([0, 1, 1]).read(async () => ++calls)).toBe(2);
  });

  test('an error counts only if the tables stayed the same', async () => {
    let calls = 0;
    const work = async () => {
      if (++calls === 1) throw new Error('between two generations');
      return calls;
    };
    expect(await tablesOf([0, undefined, 1]).read(work)).toBe(3);
    await expect(
      tablesOf([0]).read(async () => {
        throw new Error('of the query');
      }),
    ).rejects.toThrow('of the query');
  });

  test('an exchange that does not end: 503 after the limit', async () => {
    const read = tablesOf([undefined]).read(async () => 1);
    await expect(read).rejects.toMatchObject({ code: 'generation_changed' });
  }, 20_000);
});
