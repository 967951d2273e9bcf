import { looksLikeSeconds, parseTimestamp, SECONDS_RULE } from '@weir/domain/ingest/timestamp';
import type { Checked } from './compile-body.ts';

const DURATION = /^(\d{1,6})([smhd])$/;
const UNIT_MS = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Reads a duration before now (`2h`) or an ISO 8601 time. Returns Unix milliseconds. */
export function readRecentTime(name: string, text: string, nowMs: number): Checked<number> {
  const [, count, unit] = DURATION.exec(text) ?? [];
  if (count !== undefined) return { value: Math.max(0, nowMs - Number(count) * UNIT_MS[unit as keyof typeof UNIT_MS]) };
  if (looksLikeSeconds(text)) return { problem: `${name} ${SECONDS_RULE}` };
  const time = parseTimestamp(text);
  return time === undefined
    ? { problem: `${name} must be a duration (90s, 15m, 2h, 3d) or an ISO 8601 time` }
    : { value: time };
}
