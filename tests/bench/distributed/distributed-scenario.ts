import { loadText } from '../report/machine.ts';
import type { Bench, Findings, Scenario } from '../scenarios/scenario.ts';
import { measureBacklog } from './distributed-backlog.ts';
import { measureEnrichers } from './distributed-enrichers.ts';
import { CONNECTIONS, measureGateways, REQUESTS } from './distributed-gateway.ts';
import { servicesMissing, startBenchServices } from './distributed-services.ts';

const BACKLOG_RECORDS = 2_000_000;
/** Of the backlog, for each count of enrichers and each round. */
const ENRICHERS_SHARE = 0.1;

export const distributed: Scenario = {
  name: 'distributed',
  about: 'gateway, a backlog, and 1, 2 and 4 enrichers on a real Kafka, Redis and ClickHouse',
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
  const noteLoad = (what: string): void => void loads.push(`${what}: load average ${loadText()}`);
  try {
    noteLoad('before the gateways');
    const gateways = await measureGateways(bench, services);
    noteLoad('before the enrichers');
    const enrichers = await measureEnrichers(bench, services, ofEnrichers);
    noteLoad('before the backlog');
    const backlog = await measureBacklog(bench, services, records);
    noteLoad('after it');
    return {
      tables: [gateways, enrichers.table, ...backlog],
      targets: enrichers.targets,
      notes: [
        `One Kafka 4.3 broker (heap 256 MiB, one copy), one Redis, the embedded ClickHouse over HTTP, and all that is measured share this machine's cores. ${loads.join('; ')}.`,
        `Gateways: CPU of the process over ${REQUESTS} requests a round, ${CONNECTIONS} connections, ${bench.rounds} rounds in turn. Enrichers: ${ofEnrichers} records a round on a new log of 12 partitions, after 60,000 for each enricher that are not counted, appended while the enrichers run; the records/s are those of a full machine, the CPU per record is what counts.`,
        `Backlog: once, one enricher and one writer started on ${records} records that were there; their start is in seconds and CPU. Records: the page views of the access log again and again, keyed as an import keys them.`,
      ],
    };
  } finally {
    await services.close();
  }
}
