import { enrich } from './enrich.ts';
import { gateway } from './gateway.ts';
import { log } from './log.ts';
import type { Scenario } from './scenario.ts';
import { write } from './write.ts';

export const SCENARIOS: readonly Scenario[] = [gateway, log, enrich, write];
