import { GROUP_ENRICHER, TOPIC_RAW } from '@weir/domain/records/topics';
import { ratios, type Spread, showSpread, spreadOf } from '../report/spread.ts';
import type { Bench, Table, Target } from '../scenarios/scenario.ts';
import { openBenchLog, PARTITIONS } from './distributed-log.ts';
import { startRole } from './distributed-roles.ts';
import type { BenchServices } from './distributed-services.ts';

const COUNTS = [1, 2, 4] as const;
const TIMES_MAX = 1.15;
/** A group of several members needs this time to finish its rebalances. */
const SETTLE_MS = 1_500;
/** The number of records that each enricher processes before the measurement, because code is slower until it is compiled. */
const WARM_UP_RECORDS = 60_000;

interface Figure {
  readonly micros: number;
  readonly perSecond: number;
  /** The number of partitions without a processed record, plus the number of processes without one. */
  readonly idle: number;
}

/** Measures the CPU per record with 1, 2 and 4 enrichers on one topic of 12 partitions. */
export async function measureEnrichers(
  { programs, rounds, note }: Bench,
  services: BenchServices,
  records: number,
): Promise<{ readonly table: Table; readonly targets: readonly Target[] }> {
  const figures = COUNTS.map((): Figure[] => []);
  for (let round = 0; round < rounds; round++) {
    for (const [c, count] of COUNTS.entries()) {
      const figure = await measure(count, `enrichers-${round}-${count}-`);
      note(`${count}: ${figure.micros.toFixed(2)} µs per record, ${figure.idle} idle`);
      figures[c]?.push(figure);
    }
  }
  const micros = figures.map((own) => own.map((one) => one.micros));
  const furthest = furthestApart(micros);
  const idle = figures.flat().reduce((sum, one) => sum + one.idle, 0);
  return {
    table: {
      head: ['enrichers', 'CPU µs per record, all enrichers together', 'records/s'],
      rows: COUNTS.map((count, c) => [
        String(count),
        showSpread(spreadOf(micros[c] ?? []), 2),
        showSpread(spreadOf(figures[c]?.map((one) => one.perSecond) ?? []), 0),
      ]),
    },
    targets: [
      {
        what: `CPU per record with 1, 2 and 4 enrichers, the two with the largest difference: ${furthest.what}`,
        wanted: `<= ${TIMES_MAX} times`,
        found: `${showSpread(furthest.times, 2)} times`,
        met: furthest.times.median <= TIMES_MAX,
      },
      { what: 'idle partitions or enrichers', wanted: '0', found: String(idle), met: idle === 0 },
    ],
  };

  async function measure(count: number, prefix: string): Promise<Figure> {
    const log = await openBenchLog(services.env.KAFKA_BROKERS ?? '', prefix);
    const env = { ...services.env, KAFKA_TOPIC_PREFIX: prefix };
    const enrichers = await Promise.all(Array.from({ length: count }, () => startRole(programs, 'enricher', env)));
    await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
    const cpu = async (): Promise<number> =>
      (await Promise.all(enrichers.map((one) => one.cpuMicros()))).reduce((sum, own) => sum + own, 0);
    const warmUp = WARM_UP_RECORDS * count;
    await log.fill(warmUp);
    await log.caughtUp(TOPIC_RAW, GROUP_ENRICHER, warmUp);
    const before = await cpu();
    const startedAt = performance.now();
    await log.fill(records);
    await log.caughtUp(TOPIC_RAW, GROUP_ENRICHER, warmUp + records);
    const seconds = (performance.now() - startedAt) / 1000;
    const micros = ((await cpu()) - before) / records;
    const consumed = await Promise.all(enrichers.map((one) => one.consumed()));
    const moved = new Set(consumed.flatMap((own) => [...own].flatMap(([partition, n]) => (n > 0 ? [partition] : []))));
    const idle = PARTITIONS - moved.size + consumed.filter((own) => own.size === 0).length;
    await Promise.all(enrichers.map((one) => one.stop()));
    await log.close();
    return { micros, perSecond: records / seconds, idle };
  }
}

/**
 * Returns the two numbers of enrichers whose CPU per record differs most. Each round gives the ratio of the CPU with one number to the CPU with the
 * other number. The pair with the highest median of these ratios is returned. A single round would not be meaningful: even with the same number, the
 * CPU per record differs by a factor of 1.1 to 1.2 between rounds.
 */
function furthestApart(micros: readonly (readonly number[])[]): { readonly what: string; readonly times: Spread } {
  const pairs = COUNTS.flatMap((count, c) =>
    COUNTS.map((other, o) => ({
      what: `${count} compared with ${other}`,
      times: ratios(micros[c] ?? [], micros[o] ?? []),
    })),
  );
  return pairs.reduce((a, b) => (b.times.median > a.times.median ? b : a));
}
