import type { Json } from '../json/json.ts';

/** The value of an event (docs/api.md, POST /api/v1/events): a number, or a text. A text that is a decimal number sets both fields. */
export interface EventValue {
  readonly value: number | undefined;
  /** The text as sent; empty if the value was not sent as a string. */
  readonly valueText: string;
}

const DECIMAL = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)$/;

export function readValue(sent: Json | undefined): EventValue {
  if (typeof sent === 'number') return { value: sent, valueText: '' };
  if (typeof sent !== 'string') return { value: undefined, valueText: '' };
  return { value: DECIMAL.test(sent) ? Number(sent) : undefined, valueText: sent };
}
