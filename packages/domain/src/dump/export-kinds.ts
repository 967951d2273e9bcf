/** What `weir export` writes: the rows of a table (docs/tables.md), or a dump of everything that Weir stored of a site. */
export const EXPORT_KINDS = ['events', 'sessions', 'profiles', 'payments', 'everything'] as const;
export type ExportKind = (typeof EXPORT_KINDS)[number];

export const EXPORT_FORMATS = ['ndjson', 'csv', 'parquet'] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];
