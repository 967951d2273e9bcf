/** Filters that a site has saved under a name. Times in this file are Unix milliseconds. */
export interface Segment {
  readonly segmentId: string;
  readonly siteId: string;
  readonly name: string;
  /** The filters, each in the form of the query parameter `filter` of a report (docs/stats.md). */
  readonly filters: readonly string[];
  readonly createdAt: number;
}

/** A note at a moment, which charts show. */
export interface Annotation {
  readonly annotationId: string;
  readonly siteId: string;
  readonly at: number;
  readonly text: string;
  readonly createdAt: number;
}
