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
  readonly end: string;
  readonly pageviews: number;
  readonly events: number;
}

/**
 * The index of the bucket that is not over yet. The number of buckets if all are over. Buckets up to the last one with hits have begun also if the
 * clock of the browser is slow.
 */
export function presentBucket(buckets: readonly Bucket[], now = Date.now()): number {
  const index = buckets.findIndex(({ end }) => Date.parse(end) > now);
  if (index < 0) return buckets.length;
  return Math.max(
    index,
    buckets.findLastIndex(({ pageviews, events }) => pageviews + events > 0),
  );
}
