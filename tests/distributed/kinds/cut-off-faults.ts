import { whyNoClientPorts } from '../../faults/suite/client-ports.ts';
import { duration } from '../../faults/suite/connection-faults.ts';
import type { Fault, Round } from '../../faults/suite/fault.ts';
import type { FaultyProxy, ProxyMode } from '../../faults/suite/faulty-proxy.ts';
import { DEPLOYED, type Deployed } from './deployed-subject.ts';
import { oneOf, othersTakeOver } from './take-over.ts';

type Role = 'gateway' | 'enricher' | 'writer';
type Engine = 'kafka' | 'redis' | 'clickhouse';

interface CutOff {
  readonly role: Role;
  readonly engines: readonly Engine[];
  /** How the connections are disturbed. Default: one of `MODES`, chosen at random for each round. */
  readonly mode?: ProxyMode;
  /** The fault ends when this promise resolves. */
  until(broken: Deployed, round: Round): Promise<void>;
}

const SHOWN: Readonly<Record<Engine, string>> = { kafka: 'Kafka', redis: 'Redis', clickhouse: 'ClickHouse' };
/** The ways to make an engine unreachable for a process. */
const MODES: readonly ProxyMode[] = ['silent', 'half-open', 'away'];

export const anyMode = ({ random }: Round): ProxyMode => MODES[Math.floor(random() * MODES.length)] ?? 'away';

const proxyTo = (engine: Engine, { kafkaProxy, redisProxy, clickhouse }: Deployed): FaultyProxy =>
  ({ kafka: kafkaProxy, redis: redisProxy, clickhouse: clickhouse.proxy })[engine];

/** One process of the role cannot reach the engines. All other processes can reach them. */
const cutOff = (name: string, about: string, { role, engines, mode, until }: CutOff): Fault<Deployed> => ({
  ...{ ...DEPLOYED, name, about, problem: whyNoClientPorts },
  async strike(broken, round) {
    const victim = oneOf(broken.weir[`${role}s`], round);
    const proxies = engines.map((engine) => proxyTo(engine, broken));
    for (const proxy of proxies) proxy.set(mode ?? anyMode(round), victim.pid());
    try {
      await until(broken, round);
    } finally {
      for (const proxy of proxies) proxy.set('pass');
    }
  },
});

/**
 * One process cannot reach an engine for some seconds. If it is an enricher or a writer, it is still a member of its consumer group and keeps its
 * partitions, so their records wait. A gateway has no partitions.
 */
const forAWhile = (role: Role, engine: Engine): Fault<Deployed> =>
  cutOff(
    `${role}-without-${engine}`,
    `one of two ${role}s cannot reach ${SHOWN[engine]} for 1 to 10 s; the other one can`,
    { role, engines: [engine], until: (_, round) => duration(round) },
  );

const untilOthersTakeOver = (role: Role): Fault<Deployed> =>
  cutOff(
    `${role}-without-kafka`,
    `one of two ${role}s cannot reach Kafka until the other one has all partitions, and then comes back`,
    { role, engines: ['kafka'], until: othersTakeOver },
  );

/** The requests of one process to Kafka and the engine hang until the other process has taken over all partitions. Then they are delivered. */
const lateRequests = (role: Role, engine: Engine): Fault<Deployed> =>
  cutOff(
    `${role}-late`,
    `the requests of one of two ${role}s to Kafka and ${SHOWN[engine]} hang until the other one has all partitions, and are then delivered`,
    { role, engines: ['kafka', engine], mode: 'silent', until: othersTakeOver },
  );

export const CUT_OFF_FAULTS: readonly Fault<Deployed>[] = [
  forAWhile('gateway', 'kafka'),
  forAWhile('gateway', 'redis'),
  untilOthersTakeOver('enricher'),
  forAWhile('enricher', 'redis'),
  lateRequests('enricher', 'redis'),
  untilOthersTakeOver('writer'),
  forAWhile('writer', 'clickhouse'),
  lateRequests('writer', 'clickhouse'),
];
