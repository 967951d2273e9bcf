import { randomBytes, randomUUID } from 'node:crypto';
import type { EventLog } from '@weir/ports/event-log';
import type { Registry } from '@weir/ports/registry';
import { describeLive } from '@weir/testkit/live-ports';
import { registryContract } from '../../../ports/contract/registry.contract.ts';
import { openLogRegistry } from '../../src/registry/log-registry.ts';
import { openKafkaFixtureLog } from './kafka-fixture-log.ts';

const randomSalt = () => randomBytes(32).toString('hex');

interface Opened {
  readonly log: EventLog;
  readonly registry: Registry;
}

describeLive('kafka', (brokers) => {
  /** Each registry has its own event log and connections, as if it were in its own process. */
  registryContract('the registry on a Kafka log', async () => {
    const prefix = `test-${randomUUID().slice(0, 8)}.`;
    let all: Opened[] = [];
    async function open(): Promise<Registry> {
      const log = await openKafkaFixtureLog(brokers(), prefix, 0);
      const registry = await openLogRegistry({ eventLog: log, clock: Date.now, randomSalt });
      all.push({ log, registry });
      return registry;
    }
    async function closeAll(): Promise<void> {
      await Promise.all(all.map(({ registry }) => registry.close()));
      await Promise.all(all.map(({ log }) => log.close()));
      all = [];
    }
    let first = await open();
    return {
      get registry() {
        return first;
      },
      another: open,
      async reopen() {
        await closeAll();
        first = await open();
        return first;
      },
      close: closeAll,
    };
  });
});
