import type { WeirProcess } from '@weir/testkit/weir-process';
import type { Deployment } from './deployment.ts';
import type { Service, Services } from './services.ts';

export interface Victim {
  readonly name: string;
  kill9(): Promise<void>;
  /** Starts the process again. Resolves when it answers. */
  restart(): Promise<unknown>;
}

/** All Weir processes of a deployment. The first one is control, which leads replays and erasures. */
export function roleVictims({ gateways, enrichers, writers, control }: Deployment): readonly [Victim, ...Victim[]] {
  const named = (name: string, processes: readonly WeirProcess[]): Victim[] =>
    processes.map((process) => ({ name, kill9: process.kill9, restart: process.restart }));
  const [leader] = named('control', [control]) as [Victim];
  return [leader, ...named('gateway', gateways), ...named('enricher', enrichers), ...named('writer', writers)];
}

/** All services of a deployment. Redis is in the list twice: one entry restarts it with its data, the other one with empty data. */
export function serviceVictims({ kafka, redis, clickhouse }: Services): readonly Victim[] {
  const named = (name: string, service: Service): Victim => ({
    name,
    kill9: service.kill9,
    restart: service.up,
  });
  const emptied = named('Redis, emptied', redis);
  return [
    named('broker', kafka),
    named('ClickHouse', clickhouse),
    named('Redis', redis),
    {
      ...emptied,
      async kill9() {
        await redis.kill9();
        redis.wipe();
      },
    },
  ];
}

/** Kills all these processes. When all have ended, starts them again. Resolves with their names. */
export async function killAndRestart(victims: readonly Victim[]): Promise<string> {
  await Promise.all(victims.map((victim) => victim.kill9()));
  await Promise.all(victims.map((victim) => victim.restart()));
  return victims.map(({ name }) => name).join(' and ');
}
