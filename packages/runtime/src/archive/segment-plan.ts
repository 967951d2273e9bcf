/** The range of offsets of the segment that the archiver is about to store. The archiver commits it as the metadata of its offset. */
export interface SegmentPlan {
  readonly from: number;
  readonly to: number;
}

export function encodeSegmentPlan({ from, to }: SegmentPlan): string {
  return JSON.stringify({ from, to });
}

/**
 * Returns undefined for an empty text. Throws `TypeError` for JSON without valid offsets, and `SyntaxError` for a text that is not JSON.
 */
export function decodeSegmentPlan(metadata: string): SegmentPlan | undefined {
  if (metadata === '') return undefined;
  const { from, to } = JSON.parse(metadata) as Partial<SegmentPlan>;
  if (Number.isSafeInteger(from) && Number.isSafeInteger(to)) return { from: from as number, to: to as number };
  throw new TypeError(`the archiver's commit cannot be read: ${metadata.slice(0, 200)}`);
}
