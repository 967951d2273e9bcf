import { COHORTS_MODEL } from './model-cohorts.ts';
import { FUNNEL_MODEL } from './model-funnel.ts';
import { CONVERSIONS_MODEL } from './model-goals.ts';
import { JOURNEYS_MODEL } from './model-journeys.ts';
import { OVERVIEW_MODEL } from './model-overview.ts';
import { PROPERTIES_MODEL } from './model-property-names.ts';
import { REALTIME_MODEL } from './model-realtime.ts';
import { BOTS_MODEL, BREAKDOWN_MODEL, PAGES_MODEL, STATS_MODEL } from './model-reports.ts';
import type { ReportModel } from './report-model.ts';

/** The reports that the test compares with the model. Each history asks each of them. */
export const REPORT_MODELS: readonly ReportModel[] = [
  ...[STATS_MODEL, BREAKDOWN_MODEL, PAGES_MODEL, BOTS_MODEL, CONVERSIONS_MODEL, FUNNEL_MODEL, PROPERTIES_MODEL],
  ...[COHORTS_MODEL, JOURNEYS_MODEL, REALTIME_MODEL, OVERVIEW_MODEL],
];
