/**
 * The outcome of a raw record. Each raw record has exactly one (docs/tables.md, `outcomes`). `row` is a row of `events`. An `erased` or
 * `expired` record keeps only its place in the log, its site, its time of receipt and the version of its enrichment.
 */
export type Outcome = 'row' | 'identify' | 'duplicate' | 'dropped' | 'dead' | 'erased' | 'expired';

/** The reason of an outcome `identify` that stores no identity, but removes the link between a visitor and a user. */
export type IdentifyReason = 'unlink';

/** Why a record was dropped. A reason `excluded_*` names the type of the exclusion rule (docs/api.md, Exclusion rules). */
export type DropReason =
  | 'excluded_ip'
  | 'excluded_path'
  | 'excluded_hostname'
  | 'excluded_country'
  | 'excluded_user_agent'
  | 'excluded_visitor'
  | 'excluded_bots'
  /** The site was removed after the record was accepted. */
  | 'site_removed'
  /** A browser sent an identify (docs/glossary.md) without a valid signature, and the site requires one. */
  | 'identity_unverified';

/** Why a raw record became a dead letter. */
export type DeadReason =
  /** The record's bytes are not a record that this version can read. */
  | 'unreadable'
  /** A processing step of the enricher threw an error, which is a bug in Weir. The dead letter keeps the payload of the record. */
  | 'step_failed'
  /** ClickHouse refused the row. */
  | 'row_refused';
