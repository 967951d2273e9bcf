import { setImmediate as turn } from 'node:timers/promises';
import { type StartErasuresDeps, startErasures } from '@weir/control/erasure/start-erasures';
import type { Erasure } from '@weir/ports/registry';

test.each([
  ['another living process', 99_000, []],
  ['a process that has ended', 60_000, ['first']],
])('while %s carries out an erasure, no other erasure begins', async (_name, at, begun) => {
  const asked = { siteId: 's', whole: true, visitors: 0, users: 0, phase: 'waiting', removed: {}, begun: {} } as const;
  const erasures: readonly Erasure[] = [
    { ...asked, erasureId: 'first', at: 1 },
    { ...asked, erasureId: 'second', at: 2, worker: { id: 'other', at } },
  ];
  const changed: string[] = [];
  const registry = {
    erasures: () => erasures,
    erasure: (id: string) => erasures.find(({ erasureId }) => erasureId === id),
    putErasure: ({ erasureId }: Erasure) => {
      changed.push(erasureId);
      return new Promise<void>(() => undefined);
    },
    writersPause: () => undefined,
    expiry: () => undefined,
    onChange: () => undefined,
  };
  const deps = { registry, clock: () => 100_000, alone: false, workerId: 'own', ready: Promise.resolve() };
  const { look } = startErasures(deps as unknown as StartErasuresDeps);
  look();
  await turn();
  expect(changed).toEqual(begun);
});
