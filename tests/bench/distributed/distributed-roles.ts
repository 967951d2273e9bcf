import type { Programs, RunningProgram } from '../build-programs.ts';
import { ADMIN_TOKEN, portWhenReady } from '../load/bench-servers.ts';

export interface RoleProcess extends Pick<RunningProgram, 'cpuMicros' | 'stop'> {
  readonly port: number;
  /** The number of processed records by partition. */
  consumed(): Promise<ReadonlyMap<string, number>>;
  /**
   * Only for an enricher. `epochs`: the number of epochs of its state so far (an epoch ends when state is lost). `waiting`: the number of partitions
   * whose state is not complete in the present epoch yet. `rebuilt`: the number of records that were processed again to rebuild the state.
   */
  state(): Promise<{ readonly epochs: number; readonly waiting: number; readonly rebuilt: number }>;
}

/** Starts a process with one role. `env` contains the addresses of the engines. Resolves when the role is ready. */
export async function startRole(
  programs: Programs,
  role: 'gateway' | 'enricher' | 'writer',
  env: Readonly<Record<string, string>>,
): Promise<RoleProcess> {
  const program = programs.start('main', [role], {
    WEIR_DATA_DIR: programs.newFolder(),
    WEIR_ADMIN_TOKEN: ADMIN_TOKEN,
    PORT: '0',
    RATE_LIMIT_COLLECT: '1000000000',
    RATE_LIMIT_EVENTS: '1000000000',
    ...env,
  });
  const port = await portWhenReady(program);
  const metrics = async () => (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  return {
    port,
    cpuMicros: program.cpuMicros,
    stop: program.stop,
    async consumed() {
      const text = await metrics();
      const lines = text.matchAll(/^weir_consumed_records_total\{[^}]*partition="(\d+)"[^}]*\} (\d+)/gm);
      return new Map([...lines].map(([, partition = '', count]) => [partition, Number(count)]));
    },
    async state() {
      const text = await metrics();
      const numberOf = (name: string) => Number(new RegExp(`^weir_state_${name} (\\d+)`, 'm').exec(text)?.[1]);
      return {
        epochs: numberOf('epochs_total'),
        waiting: numberOf('partitions_waiting'),
        rebuilt: numberOf('rebuilt_records_total'),
      };
    },
  };
}
