import type { ApiKey, ExclusionRule, Site } from '@weir/domain/site';

/**
 * Sites, keys (hashes), exclusion rules and daily salts: held in memory by every process, changed through a compacted topic,
 * so reading costs no I/O. While the log is away it stands as last read. `adapters/log-registry.ts` is the one implementation.
 */
export interface Registry {
  site(siteId: string): Site | undefined;
  sites(): readonly Site[];
  /** `hash`: SHA-256 of the plain key in lower-case hex. */
  keyByHash(hash: string): ApiKey | undefined;
  keys(siteId: string): readonly ApiKey[];
  exclusions(siteId: string): readonly ExclusionRule[];
  import(siteId: string, fileDigest: string): ImportLedgerEntry | undefined;
  imports(siteId: string): readonly ImportLedgerEntry[];

  /** Each write resolves when durable and in force here; elsewhere within a second. Rejects with `event_log_unavailable`. */
  putSite(site: Site): Promise<void>;
  /** Removes the site with its keys, rules and imports. */
  removeSite(siteId: string): Promise<void>;
  putKey(key: ApiKey): Promise<void>;
  removeKey(siteId: string, keyId: string): Promise<void>;
  putExclusion(rule: ExclusionRule): Promise<void>;
  removeExclusion(siteId: string, ruleId: string): Promise<void>;
  putImport(entry: ImportLedgerEntry): Promise<void>;

  /**
   * The random salt (32 bytes, hex) of a UTC day (`YYYY-MM-DD`), made by whoever asks first: of concurrent makers the first in
   * the log wins, and every process returns that one.
   */
  salt(day: string): Promise<string>;
  /** The salt of a day, where one was made and is not removed yet. */
  saltMade(day: string): string | undefined;
  /** Removes the salts of days before `day`. */
  removeSaltsBefore(day: string): Promise<void>;

  /** Called after each change, with the site concerned. For caches that are derived from the registry. */
  onChange(listener: (siteId: string) => void): void;
  close(): Promise<void>;
}

/** How far the import of one file into one site went. */
export interface ImportLedgerEntry {
  readonly siteId: string;
  /** SHA-256 of the file's uncompressed bytes, hex. */
  readonly fileDigest: string;
  readonly startedAt: number;
  /** Lines 1 .. linesDone have been dealt with (appended, skipped or reported). */
  readonly linesDone: number;
  /** A chunk up to this line was being appended when this was written: after a crash, its lines may or may not be in the log. */
  readonly linesPending: number;
  readonly hitsAppended: number;
  readonly finished: boolean;
}
