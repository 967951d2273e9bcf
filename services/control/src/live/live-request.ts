import type { Outcome } from '@weir/domain/records/outcome';
import type { Checked } from '../http/compile-body.ts';
import { readParameters } from '../http/query-parameters.ts';
import type { TopicRecord } from '../topics/topic-record.ts';

const LIVE_PARAMETERS = ['outcome', 'contains'] as const;
export const LIVE_OUTCOMES: readonly Outcome[] = ['row', 'identify', 'duplicate', 'dropped', 'dead'];
export const CONTAINS_CHARS_MAX = 256;

export type IsWanted = (record: TopicRecord) => boolean;

export function readLiveRequest(url: string): Checked<IsWanted> {
  const read = readParameters(url, LIVE_PARAMETERS);
  if ('problem' in read) return read;
  const { outcome, contains = '' } = Object.fromEntries(read.value);
  if (outcome !== undefined && !LIVE_OUTCOMES.some((known) => known === outcome)) {
    return { problem: `outcome must be one of ${LIVE_OUTCOMES.join(', ')}` };
  }
  if ([...contains].length > CONTAINS_CHARS_MAX) {
    return { problem: `contains must be at most ${CONTAINS_CHARS_MAX} chars` };
  }
  const part = contains.toLowerCase();
  return {
    value: ({ record }) => {
      const values: Readonly<Record<string, unknown>> = { ...record };
      if (outcome !== undefined && values.outcome !== outcome) return false;
      return part === '' || Object.values(values).some((value) => textOf(value).toLowerCase().includes(part));
    },
  };
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
