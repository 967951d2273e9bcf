import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PROJECT_ROOT } from '@weir/testkit/weir-process';
import { faultSeed, say } from './exactly-once.ts';
import { EMBEDDED_FAULTS } from './suite/embedded-faults.ts';
import { testFault } from './suite/fault-test.ts';
import { namesOn } from './suite/faults-page.ts';
import { closeShared } from './suite/shared-subjects.ts';

const seed = faultSeed();
afterAll(closeShared);
beforeAll(() => say(`fault table: WEIR_FAULT_SEED=${seed}`));

/**
 * The table in docs/faults.md lists the faults that Weir has survived in `npm run faults`. Here each of them happens once, which takes a few
 * minutes altogether.
 */
const table = namesOn(readFileSync(join(PROJECT_ROOT, 'docs/faults.md'), 'utf8'), 'embedded');
for (const fault of EMBEDDED_FAULTS.filter(({ name }) => table.has(name))) testFault(fault, seed);
