/** What `weir export` writes: the rows of a table (docs/tables.md), or for `everything` a dump of the site (dump-format.ts). */
export const EXPORT_KINDS = ['events', 'sessions', 'profiles', 'payments', 'everything'] as const;
export type ExportKind = (typeof EXPORT_KINDS)[number];

export const EXPORT_FORMATS = ['ndjson', 'csv', 'parquet'] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];
