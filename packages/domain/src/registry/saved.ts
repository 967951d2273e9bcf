/** Filters that a site has saved under a name. Times in this file are Unix milliseconds. */
export interface Segment {
  readonly segmentId: string;
  readonly siteId: string;
  readonly name: string;
  /** The filters, each in the form of the query parameter `filter` of a report (docs/stats.md). */
  readonly filters: readonly string[];
  readonly createdAt: number;
}

/** Steps that a site has saved under a name, for the funnel report. */
export interface Funnel {
  readonly funnelId: string;
  readonly siteId: string;
  readonly name: string;
  /** The steps in their order, each in the form of the query parameter `step` of the funnel report (docs/stats.md). */
  readonly steps: readonly string[];
  /** The longest time from the first step to the last one, in the form of the query parameter `within`. */
  readonly within: string;
  readonly createdAt: number;
}

/** A note about a moment. Charts show the note at this moment. */
export interface Annotation {
  readonly annotationId: string;
  readonly siteId: string;
  readonly at: number;
  readonly text: string;
  readonly createdAt: number;
}
