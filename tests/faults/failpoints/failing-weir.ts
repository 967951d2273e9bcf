import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '@weir/testkit/eventually';
import { PROJECT_ROOT } from '@weir/testkit/weir-process';
import { type Embedded, openEmbedded } from '../suite/embedded-subject.ts';
import { failingProgram } from './failing-program.ts';
import type { FaultOrder } from './fault-order.ts';

export interface FailingWeir extends Embedded {
  /** Orders a fault. It happens at the nth call of its point, counted from now. */
  arm(order: Partial<FaultOrder> & Pick<FaultOrder, 'point'>): void;
  /** Resolves when an ordered kill has ended Weir's main process. */
  died(): Promise<void>;
  /** Resolves when an ordered fault with another action than `kill` has happened for the last time. */
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
      // An order with an outcome needs another action than `kill`: `happened` waits for a file, and armed-fault.ts does not write this file for
      // kills.
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
