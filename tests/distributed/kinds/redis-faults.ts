import { setTimeout as pause } from 'node:timers/promises';
import { eventually } from '@weir/testkit/eventually';
import { connectionFaults, duration } from '../../faults/suite/connection-faults.ts';
import type { Fault } from '../../faults/suite/fault.ts';
import type { Deployment } from '../deployment.ts';
import { redisCommand } from '../redis-command.ts';
import { DEPLOYED, type Deployed } from './deployed-subject.ts';
import { serviceFaults } from './service-faults.ts';

const DOWN_MAX_MS = 2_000;
/** No process listens on this port. A Redis that is the replica of an unreachable primary keeps its data and refuses writes. */
const NO_PRIMARY = '127.0.0.1 1';

interface WriteRefusal {
  readonly name: string;
  readonly about: string;
  /** The first word of the error that Redis returns for a write. Redis counts its errors by this word. */
  readonly error: string;
  readonly begin: string;
  readonly end: string;
}

const REFUSALS: readonly WriteRefusal[] = [
  {
    name: 'redis-read-only',
    about: 'Redis becomes a replica, which refuses writes, and later a primary again',
    error: 'READONLY',
    begin: `REPLICAOF ${NO_PRIMARY}`,
    end: 'REPLICAOF "NO" "ONE"',
  },
  {
    name: 'redis-alone',
    about: 'Redis refuses writes, because it has too few replicas (`min-replicas-to-write`)',
    error: 'NOREPLICAS',
    begin: 'CONFIG SET min-replicas-to-write 1',
    end: 'CONFIG SET min-replicas-to-write 0',
  },
  {
    name: 'redis-full',
    about: 'Redis refuses writes, because its memory is full (`maxmemory`)',
    error: 'OOM',
    begin: 'CONFIG SET maxmemory 1',
    end: 'CONFIG SET maxmemory 0',
  },
];

async function command({ services: { redis } }: Deployment, text: string): Promise<void> {
  const answer = await redisCommand(redis.address, text);
  if (!answer.startsWith('+OK')) throw new Error(`Redis answered ${text} with ${answer}`);
}

export const REDIS_FAULTS: readonly Fault<Deployed>[] = [
  ...serviceFaults('redis', 'Redis'),
  {
    ...{ ...DEPLOYED, name: 'redis-wiped', about: 'FLUSHALL: Redis loses all its data while it runs' },
    strike: ({ weir }) => command(weir, 'FLUSHALL'),
  },
  {
    ...{ ...DEPLOYED, name: 'redis-emptied', about: '`kill -9` of Redis, and a new start without its data' },
    async strike({ weir: { services } }, { random, over }) {
      await services.redis.kill9();
      services.redis.wipe();
      await pause(random() * DOWN_MAX_MS);
      over();
      await services.redis.up();
    },
  },
  ...REFUSALS.map(
    ({ name, about, error, begin, end }): Fault<Deployed> => ({
      ...{ ...DEPLOYED, name, about },
      async strike({ weir }, round) {
        const { address } = weir.services.redis;
        await command(weir, 'CONFIG RESETSTAT');
        await command(weir, begin);
        await duration(round);
        await eventually('Redis to refuse a write', async () =>
          (await redisCommand(address, 'INFO errorstats')).includes(`errorstat_${error}:`),
        );
        await command(weir, end);
      },
    }),
  ),
  ...connectionFaults({ name: 'redis', from: 'Weir', to: 'Redis' }, DEPLOYED, ({ redisProxy }) => [redisProxy]),
];
