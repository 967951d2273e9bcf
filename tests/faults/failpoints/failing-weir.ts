import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '@weir/testkit/eventually';
import { PROJECT_ROOT } from '@weir/testkit/weir-process';
import { type Embedded, openEmbedded } from '../suite/embedded-subject.ts';
import { failingProgram } from './failing-program.ts';
import type { FaultOrder } from './fault-order.ts';

/** A Weir whose bundle has points at which a fault can happen. */
export interface FailingWeir extends Embedded {
  /** Requests a fault. It happens at the nth call of its point from now on. */
  arm(order: Partial<FaultOrder> & Pick<FaultOrder, 'point'>): void;
  /** Resolves when a requested kill has ended Weir's main process. */
  died(): Promise<void>;
  /** Resolves when a requested fault other than a kill has happened for the last time. */
  happened(): Promise<void>;
}

const HAPPENS_WITHIN_MS = 150_000;

export async function openFailing(env: Readonly<Record<string, string>> = {}): Promise<FailingWeir> {
  const program = failingProgram();
  const folder = mkdtempSync(join(PROJECT_ROOT, '.cache', 'fault-order-'));
  const file = join(folder, 'order.json');
  const done = `${file}.done`;
  const embedded = await openEmbedded({ program, env: { ...env, WEIR_FAULT_FILE: file } }, async () =>
    rmSync(folder, { recursive: true }),
  );
  return {
    ...embedded,
    arm(order) {
      rmSync(done, { force: true });
      // An order with an outcome is not a kill. Its action must say so: only faults that are not kills write the file for which `happened` waits.
      const action = order.outcome === undefined ? 'kill' : 'fail';
      const whole: FaultOrder = { about: '', nth: 1, times: 1, action, lateMs: 0, outcome: 'none', ...order };
      writeFileSync(file, JSON.stringify(whole));
      embedded.weir.signal('SIGUSR2');
    },
    async died() {
      let dead = false;
      void embedded.weir.ended().then(() => {
        dead = true;
      });
      await eventually('the ordered kill to happen', () => dead, HAPPENS_WITHIN_MS);
    },
    async happened() {
      await eventually('the ordered fault to happen', () => existsSync(done), HAPPENS_WITHIN_MS);
    },
  };
}
