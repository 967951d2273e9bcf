import { distributed } from '../distributed/distributed-scenario.ts';
import { rivals } from '../rivals/rivals-scenario.ts';
import { dashboard } from './dashboard-scenario.ts';
import { dashboards } from './dashboards-scenario.ts';
import { endToEnd } from './end-to-end-scenario.ts';
import { enrich } from './enrich-scenario.ts';
import { exclusions } from './exclusion-scenario.ts';
import { gateway } from './gateway-scenario.ts';
import { history } from './history-scenario.ts';
import { importLog } from './import-scenario.ts';
import { late } from './late-scenario.ts';
import { log } from './log-scenario.ts';
import { replayLive, replayLiveRaw } from './replay-live-scenario.ts';
import { replay, replayMemory } from './replay-scenario.ts';
import { reports } from './reports-scenario.ts';
import { scale } from './scale-scenario.ts';
import type { Scenario } from './scenario.ts';
import { seal } from './seal-scenario.ts';
import { snippet } from './snippet-scenario.ts';
import { storage } from './storage-scenario.ts';
import { write } from './write-scenario.ts';

export const SCENARIOS: readonly Scenario[] = [
  gateway,
  log,
  enrich,
  seal,
  exclusions,
  write,
  replay,
  replayMemory,
  replayLive,
  replayLiveRaw,
  endToEnd,
  importLog,
  snippet,
  distributed,
  rivals,
  reports,
  history,
  storage,
  dashboard,
  dashboards,
  late,
  scale,
];
