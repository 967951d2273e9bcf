import { GROUP_ENRICHER, GROUP_WRITER, TOPIC_ENRICHED, TOPIC_RAW } from '@weir/domain/records/topics';
import { redisCommand } from '../../distributed/redis-command.ts';
import { showNumber } from '../report/spread.ts';
import type { Bench, Table } from '../scenarios/scenario.ts';
import { openBenchLog } from './distributed-log.ts';
import { type RoleProcess, startRole } from './distributed-roles.ts';
import { type BenchServices, ENGINES } from './distributed-services.ts';

/** Measures how fast one enricher and one writer process a backlog of `records`. There are no rounds, because one measurement takes minutes. */
export async function measureBacklog(
  { programs, note }: Bench,
  services: BenchServices,
  records: number,
): Promise<readonly Table[]> {
  const prefix = 'backlog-';
  const log = await openBenchLog(services.env.KAFKA_BROKERS ?? '', prefix);
  const filledAt = performance.now();
  await log.fill(records);
  note(`backlog of ${records} made in ${secondsSince(filledAt).toFixed(0)} s`);

  const before = new Map(ENGINES.map((name) => [name, services.cpuMicros(name)]));
  const startedAt = performance.now();
  const env = { ...services.env, KAFKA_TOPIC_PREFIX: prefix };
  const [enricher, writer] = await Promise.all([
    startRole(programs, 'enricher', env),
    startRole(programs, 'writer', env),
  ]);
  await log.caughtUp(TOPIC_RAW, GROUP_ENRICHER, records);
  const enriched = secondsSince(startedAt);
  note(`enriched in ${enriched.toFixed(0)} s`);
  await log.caughtUp(TOPIC_ENRICHED, GROUP_WRITER, records);
  const stored = secondsSince(startedAt);
  note(`stored in ${stored.toFixed(0)} s`);
  const cpu = new Map<string, number>([
    ['enricher', await enricher.cpuMicros()],
    ['writer', await writer.cpuMicros()],
    ...ENGINES.map((name) => [name, services.cpuMicros(name) - (before.get(name) ?? 0)] as const),
  ]);
  const rebuild = await measureRebuild(enricher, services.env.REDIS_URL ?? '');
  note(`${rebuild.records} records folded again in ${rebuild.seconds.toFixed(0)} s`);
  const sizes = {
    'events.raw on disk': services.topicBytes(`${prefix}${TOPIC_RAW}`),
    'events.enriched on disk': services.topicBytes(`${prefix}${TOPIC_ENRICHED}`),
    'ClickHouse on disk (parts in use)': await tableBytes(services.env.CLICKHOUSE_URL ?? ''),
  };
  await writer.stop();
  await enricher.stop();
  await log.close();
  return [
    {
      head: [`backlog of ${records} records`, 'seconds', 'records/s'],
      rows: [
        ['until all are enriched', showNumber(enriched), showNumber(records / enriched, 0)],
        ['until all are in ClickHouse', showNumber(stored), showNumber(records / stored, 0)],
        [
          `state rebuilt after FLUSHALL, until keys are decided (${rebuild.records} records)`,
          showNumber(rebuild.seconds),
          showNumber(rebuild.records / rebuild.seconds, 0),
        ],
      ],
    },
    {
      head: ['process', 'CPU µs per record'],
      rows: [...cpu].map(([name, micros]) => [name, showNumber(micros / records, 2)]),
    },
    {
      head: ['where', 'bytes per record'],
      rows: Object.entries(sizes).map(([where, bytes]) => [where, showNumber(bytes / records, 0)]),
    },
  ];
}

const POLL_MS = 50;

/**
 * Wipes the state of an idle enricher, and measures how long the rebuild takes. The time begins when the enricher notices the loss, which takes
 * at most a second.
 */
async function measureRebuild(
  enricher: RoleProcess,
  redisUrl: string,
): Promise<{ readonly records: number; readonly seconds: number }> {
  const before = await enricher.state();
  await redisCommand(redisUrl, 'FLUSHALL');
  let startedAt: number | undefined;
  for (;;) {
    const { epochs, waiting, rebuilt } = await enricher.state();
    if (epochs > before.epochs) startedAt ??= performance.now();
    if (startedAt !== undefined && waiting === 0) {
      return { records: rebuilt - before.rebuilt, seconds: secondsSince(startedAt) };
    }
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

const secondsSince = (startedAt: number): number => (performance.now() - startedAt) / 1000;

async function tableBytes(address: string): Promise<number> {
  const { username, password, origin } = new URL(address);
  const query = "SELECT sum(bytes_on_disk) FROM system.parts WHERE active AND database = 'weir'";
  const headers = {
    'X-ClickHouse-User': decodeURIComponent(username),
    'X-ClickHouse-Key': decodeURIComponent(password),
  };
  const answer = await fetch(origin, { method: 'POST', body: query, headers });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`ClickHouse: ${text.slice(0, 400)}`);
  return Number(text.trim().replaceAll(/[^\d.]/g, ''));
}
