import { enrich } from './enrich.ts';
import { gateway } from './gateway.ts';
import type { Scenario } from './scenario.ts';

export const SCENARIOS: readonly Scenario[] = [gateway, enrich];
