import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openLmdbStateStore } from '@weir/adapters/lmdb/state/lmdb-state-store';
import type { StateStore } from '@weir/ports/state-store';
import { createHeldClaims } from '../src/gateways/held-claims.ts';

let folder = '';
let store: StateStore;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'weir-claims-'));
  store = await openLmdbStateStore({ folder, clock: Date.now });
});
afterEach(async () => {
  await store.close();
  rmSync(folder, { recursive: true });
});

const claim = (key: string, owner: string) => ({ siteId: 's', key, owner });

test('after the end of a process, its pending claims are free, and confirmed keys and claims of others are not', async () => {
  const [first, second] = [createHeldClaims(store), createHeldClaims(store)];
  expect(await first.claimKeys([claim('pending', '1'), claim('stored', '2'), claim('refused', '3')])).toEqual([
    'claimed',
    'claimed',
    'claimed',
  ]);
  expect(await second.claimKeys([claim('pending', '4'), claim('other', '5')])).toEqual(['pending', 'claimed']);
  await first.confirmKeys([claim('stored', '2')]);
  await first.releaseKeys([claim('refused', '3')]);
  await first.releaseAll();
  const keys = ['pending', 'stored', 'refused', 'other'];
  expect(await store.claimKeys(keys.map((key) => claim(key, '6')))).toEqual([
    'claimed',
    'confirmed',
    'claimed',
    'pending',
  ]);
});

test('a claim that is made while the process ends is released too', async () => {
  const claims = createHeldClaims(store);
  const claiming = claims.claimKeys([claim('late', '1')]);
  await claims.releaseAll();
  await claiming;
  expect(await store.claimKeys([claim('late', '2')])).toEqual(['claimed']);
});
