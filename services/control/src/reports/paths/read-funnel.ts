import {
  ACTION_TYPES,
  type Action,
  actionProblem,
  FUNNEL_STEPS_MAX,
  FUNNEL_STEPS_MIN,
} from '@weir/domain/registry/goal';
import type { Checked } from '../../http/compile-body.ts';
import type { FunnelOf } from './funnel-report.ts';

export const WITHIN_DEFAULT = '7d';
const WITHIN_DAYS_MAX = 366;
const DURATION = /^(\d{1,8})([smhd])$/;
const UNIT_MS = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** Reads the steps of a funnel and the longest time from its first to its last step, in the form of the query parameters `step` and `within`. */
export function readFunnel(texts: readonly string[], within = WITHIN_DEFAULT): Checked<FunnelOf> {
  if (texts.length < FUNNEL_STEPS_MIN || texts.length > FUNNEL_STEPS_MAX) {
    return { problem: `step must be sent ${FUNNEL_STEPS_MIN} to ${FUNNEL_STEPS_MAX} times` };
  }
  const steps: Action[] = [];
  for (const text of texts) {
    const type = ACTION_TYPES.find((known) => text.startsWith(`${known}:`));
    if (type === undefined) return { problem: 'step must be event:NAME or page:GLOB, such as page:/checkout/*' };
    const step = { type, value: text.slice(type.length + 1) };
    const problem = actionProblem(step);
    if (problem !== undefined) return { problem: `step is invalid: ${problem}` };
    steps.push(step);
  }
  const [, count, unit] = DURATION.exec(within) ?? [];
  const withinMs = Number(count) * UNIT_MS[unit as keyof typeof UNIT_MS];
  if (!(withinMs > 0 && withinMs <= WITHIN_DAYS_MAX * UNIT_MS.d)) {
    return { problem: `within must be a duration of up to ${WITHIN_DAYS_MAX} days, such as 30m, 24h or 7d` };
  }
  return { value: { steps, withinMs } };
}
