import type { Answer } from '../api/call-admin.ts';

export type Annotation = Answer<'listAnnotations'>[number];

/** An annotation of the shown period, with the index of its bucket in the chart. */
export interface ChartNote {
  readonly annotation: Annotation;
  readonly bucket: number;
}

/** The annotations whose moment is in one of the buckets, by their time. */
export function annotationsOf(
  annotations: readonly Annotation[],
  buckets: Answer<'stats'>['buckets'],
): readonly ChartNote[] {
  return annotations.flatMap((annotation) => {
    const at = Date.parse(annotation.at);
    const bucket = buckets.findIndex(({ start, end }) => Date.parse(start) <= at && at < Date.parse(end));
    return bucket < 0 ? [] : [{ annotation, bucket }];
  });
}
