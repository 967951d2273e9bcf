import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { seededRandom } from '@weir/testkit/load';
import { PROJECT_ROOT } from '@weir/testkit/weir-process';
import { faultSeed, say } from '../faults/exactly-once.ts';
import { testFault } from '../faults/suite/fault-test.ts';
import { namesOn } from '../faults/suite/faults-page.ts';
import { closeShared } from '../faults/suite/shared-subjects.ts';
import { DISTRIBUTED_KINDS } from './kinds/distributed-faults.ts';

const seed = faultSeed();
const random = seededRandom(seed);
afterAll(closeShared, 120_000);
beforeAll(() => say(`fault table of a deployment: WEIR_FAULT_SEED=${seed}`));

/**
 * The table in docs/faults.md lists the faults that Weir has survived in `npm run faults -- --distributed`. To save time, only one fault of each
 * kind happens here.
 */
const table = namesOn(readFileSync(join(PROJECT_ROOT, 'docs/faults.md'), 'utf8'), 'distributed');
for (const kind of DISTRIBUTED_KINDS) {
  const survived = kind.filter(({ name }) => table.has(name));
  const chosen = survived[Math.floor(random() * survived.length)];
  if (chosen !== undefined) testFault(chosen, seed);
}
