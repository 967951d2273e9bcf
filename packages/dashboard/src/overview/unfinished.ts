/** The share of the period that is still to come. 0 if the period is unknown. */
export function shareAhead(
  period: { readonly from: string; readonly to: string } | undefined,
  now = Date.now(),
): number {
  if (period === undefined) return 0;
  const [begin, end] = [Date.parse(period.from), Date.parse(period.to)];
  return Math.min(1, Math.max(0, (end - now) / (end - begin)));
}

interface Bucket {
  readonly start: string;
  readonly end: string;
  readonly pageviews: number;
  readonly events: number;
}

const HOUR_MS = 3_600_000;

/**
 * The index of the bucket that is not over yet. The number of buckets if all are over. Buckets up to the last one with hits have begun also if the
 * clock of the browser is slow. A last bucket of less than an hour is only a part of its hour, as in the period of 24 hours, so it is not over.
 */
export function presentBucket(buckets: readonly Bucket[], now = Date.now()): number {
  const last = buckets.at(-1);
  const isPart = last !== undefined && Date.parse(last.end) - Date.parse(last.start) < HOUR_MS;
  const index = buckets.findIndex(({ end }) => Date.parse(end) > now);
  if (index < 0) return isPart ? buckets.length - 1 : buckets.length;
  return Math.max(
    index,
    buckets.findLastIndex(({ pageviews, events }) => pageviews + events > 0),
  );
}
