import type { Json } from '../json/json.ts';

/** An event's value (docs/api.md, POST /api/v1/events): a number, or the text as sent, and its number where the text is a decimal number. */
export interface EventValue {
  readonly value: number | undefined;
  /** Empty where the value was not sent as a string. */
  readonly valueText: string;
}

const DECIMAL = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)$/;

export function readValue(sent: Json | undefined): EventValue {
  if (typeof sent === 'number') return { value: sent, valueText: '' };
  if (typeof sent !== 'string') return { value: undefined, valueText: '' };
  return { value: DECIMAL.test(sent) ? Number(sent) : undefined, valueText: sent };
}
