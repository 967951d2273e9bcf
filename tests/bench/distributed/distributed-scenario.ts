import { loadText } from '../report/machine.ts';
import type { Bench, Findings, Scenario } from '../scenarios/scenario.ts';
import { measureBacklog } from './distributed-backlog.ts';
import { measureEnrichers } from './distributed-enrichers.ts';
import { CONNECTIONS, measureGateways, REQUESTS } from './distributed-gateway.ts';
import { servicesMissing, startBenchServices } from './distributed-services.ts';

const BACKLOG_RECORDS = 2_000_000;
/** In each round, each number of enrichers (1, 2 and 4) processes this share of the number of records in the backlog. */
const ENRICHERS_SHARE = 0.1;

export const distributed: Scenario = {
  name: 'distributed',
  about:
    'CPU and speed of the gateway, of 1, 2 and 4 enrichers, and of processing a backlog, with a real Kafka, Redis and ClickHouse',
  rounds: 5,
  onlyByName: 'needs Kafka and Redis here (npm run services:up installs nothing unless CI=true)',
  missing: servicesMissing,
  run,
};

async function run(bench: Bench): Promise<Findings> {
  const records = bench.records ?? BACKLOG_RECORDS;
  const ofEnrichers = Math.ceil(records * ENRICHERS_SHARE);
  const services = await startBenchServices();
  const loads: string[] = [];
  const noteLoad = (what: string): void => void loads.push(`${what} ${loadText()}`);
  try {
    noteLoad('before the gateways');
    const gateways = await measureGateways(bench, services);
    noteLoad('before the enrichers');
    const enrichers = await measureEnrichers(bench, services, ofEnrichers);
    noteLoad('before the backlog');
    const backlog = await measureBacklog(bench, services, records);
    noteLoad('after the backlog');
    return {
      tables: [gateways, enrichers.table, ...backlog],
      targets: enrichers.targets,
      notes: [
        `One Kafka 4.3 broker (heap 256 MiB, one replica), one Redis, the embedded ClickHouse over HTTP, and all measured processes share the cores of this machine. Load averages: ${loads.join('; ')}.`,
        `Gateways: CPU of the process for ${REQUESTS} requests per round, ${CONNECTIONS} connections, ${bench.rounds} rounds that alternate between the three servers. Enrichers: ${ofEnrichers} records per round in a new log of 12 partitions, after 60,000 records for each enricher that are not counted. The records are appended while the enrichers run. All cores are busy, so the CPU per record is more meaningful than the records/s.`,
        `Backlog: measured once. One enricher and one writer are started with a backlog of ${records} records. The seconds and the CPU include their start. The records are the page views of the access log, repeated, with the keys of an import.`,
      ],
    };
  } finally {
    await services.close();
  }
}
