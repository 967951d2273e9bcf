import { withQuery } from '../app/location.ts';

export const [STEPS_MIN, STEPS_MAX] = [2, 8];
const WITHIN_DEFAULT = '7d';

export interface Step {
  readonly type: 'event' | 'page';
  readonly value: string;
}

/** A funnel in the address of the page: `step=page:/&step=event:signup&within=24h`. */
export interface FunnelAsked {
  readonly steps: readonly Step[];
  /** The longest time from the first step to the last one, for example `30m`, `24h` or `7d`. */
  readonly within: string;
}

/** The part of the address that names the funnel. It does not change with the period or with a filter. */
export function funnelText(query: URLSearchParams): string {
  const kept = [...query].filter(([name]) => name === 'step' || name === 'within');
  return new URLSearchParams(kept).toString();
}

/** Reads a funnel from `funnelText`. Steps that are neither events nor pages are ignored. */
export function parseFunnel(text: string): FunnelAsked {
  const query = new URLSearchParams(text);
  return { steps: query.getAll('step').flatMap(parseStep), within: query.get('within') || WITHIN_DEFAULT };
}

export function parseStep(text: string): readonly Step[] {
  const [type, ...value] = text.split(':');
  return type === 'event' || type === 'page' ? [{ type, value: value.join(':') }] : [];
}

export const stepText = ({ type, value }: Step): string => `${type}:${value}`;

/** The address of this page with another funnel. */
export function funnelAddress(steps: readonly string[], within: string): string {
  return withQuery((query) => {
    query.delete('step');
    for (const step of steps) query.append('step', step);
    if (within === WITHIN_DEFAULT) query.delete('within');
    else query.set('within', within);
  });
}
