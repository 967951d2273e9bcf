import type { ApiKey, ExclusionRule, Site } from '@weir/domain/registry/site';

/**
 * Sites, hashes of API keys, exclusion rules, imports and daily salts. Every process holds all of it in memory, so reads do no
 * I/O. Changes go through a compacted topic. While the log is unavailable, reads return the last known state.
 * Implementation: `adapters/registry/log-registry.ts`.
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

  /**
   * This and the following writes resolve when the change is durable and visible in this process; other processes see it
   * within a second. They reject with `event_log_unavailable`; the change may still become durable later.
   */
  putSite(site: Site): Promise<void>;
  /** Removes the site with its keys, rules and imports. After a rejection a part may be removed: call it again. */
  removeSite(siteId: string): Promise<void>;
  putKey(key: ApiKey): Promise<void>;
  removeKey(siteId: string, keyId: string): Promise<void>;
  putExclusion(rule: ExclusionRule): Promise<void>;
  removeExclusion(siteId: string, ruleId: string): Promise<void>;
  putImport(entry: ImportLedgerEntry): Promise<void>;

  /**
   * Resolves with the salt (32 random bytes, hex) of a UTC day (`YYYY-MM-DD`); the first call for a day creates it. If several
   * processes create it at once, the first salt in the log wins and all processes return that one.
   */
  salt(day: string): Promise<string>;
  /** The salt of a day if it exists; does not create one. */
  existingSalt(day: string): string | undefined;
  /** Removes the salts of all days before `day`. */
  removeSaltsBefore(day: string): Promise<void>;

  /** Returns the last request to pause the writers, also if the pause is over. */
  writersPause(): WritersPause | undefined;
  putWritersPause(pause: WritersPause): Promise<void>;
  /** The listener is called after each change of the request. Returns a function that removes it. */
  onWritersPause(listener: () => void): () => void;

  /** The listener is called after each change, with the site that changed. For caches that are derived from the registry. */
  onChange(listener: (siteId: string) => void): void;
  close(): Promise<void>;
}

/** A request that all writers pause, so that ClickHouse's tables can be exchanged (a swap). Only the last request is stored. */
export interface WritersPause {
  /** The number of the swap. Each swap has a higher number than all swaps before it. */
  readonly swap: number;
  /** True: the pause has ended, and the writers continue. */
  readonly over: boolean;
  /** Unix milliseconds. */
  readonly requestedAt: number;
}

/** The progress of the import of one file into one site. */
export interface ImportLedgerEntry {
  readonly siteId: string;
  /** SHA-256 of the file's uncompressed bytes, hex. */
  readonly fileDigest: string;
  readonly startedAt: number;
  /** Lines 1 to `linesDone` were processed: appended, skipped or reported. */
  readonly linesDone: number;
  /** Lines `linesDone` + 1 to `linesPending` were being appended when this was written. After a crash they may be in the log. */
  readonly linesPending: number;
  readonly hitsAppended: number;
  readonly finished: boolean;
}
