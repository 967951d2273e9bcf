import { distributed } from '../distributed/distributed-scenario.ts';
import { endToEnd } from './end-to-end-scenario.ts';
import { enrich } from './enrich-scenario.ts';
import { exclusions } from './exclusion-scenario.ts';
import { gateway } from './gateway-scenario.ts';
import { importLog } from './import-scenario.ts';
import { log } from './log-scenario.ts';
import type { Scenario } from './scenario.ts';
import { seal } from './seal-scenario.ts';
import { snippet } from './snippet-scenario.ts';
import { write } from './write-scenario.ts';

export const SCENARIOS: readonly Scenario[] = [
  gateway,
  log,
  enrich,
  seal,
  exclusions,
  write,
  endToEnd,
  importLog,
  snippet,
  distributed,
];
