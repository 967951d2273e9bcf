import { distributed } from './distributed.ts';
import { endToEnd } from './end-to-end.ts';
import { enrich } from './enrich.ts';
import { exclusions } from './exclusions.ts';
import { gateway } from './gateway.ts';
import { importLog } from './import.ts';
import { log } from './log.ts';
import type { Scenario } from './scenario.ts';
import { snippet } from './snippet.ts';
import { write } from './write.ts';

export const SCENARIOS: readonly Scenario[] = [
  gateway,
  log,
  enrich,
  exclusions,
  write,
  endToEnd,
  importLog,
  snippet,
  distributed,
];
