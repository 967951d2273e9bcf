import type { Tombstone } from '@weir/domain/erasure/tombstone';
import type { Goal } from '@weir/domain/registry/goal';
import type { Replay, ReplayPart } from '@weir/domain/registry/replay';
import type { Annotation, Funnel, Segment } from '@weir/domain/registry/saved';
import type { ApiKey, ExclusionRule, Site } from '@weir/domain/registry/site';
import type { SessionSecret, SignedOut, TokenUse, Viewer } from '@weir/domain/registry/viewer';
import type { Erasure, Expiry, ImportLedgerEntry, WritersPause } from '@weir/ports/registry';
import { type RegistryRow, readRow } from './registry-rows.ts';
import { SiteItems } from './site-items.ts';

/** The rows of the registry's two tables (one is for salts), in maps for fast reads. */
export class RegistryIndex {
  readonly sites = new Map<string, Site>();
  readonly keys = new SiteItems<ApiKey>(({ keyId }) => keyId);
  readonly keysByHash = new Map<string, ApiKey>();
  readonly salts = new Map<string, Map<string, string>>();
  writersPause: WritersPause | undefined;
  expiry: Expiry | undefined;
  readonly erasures = new Map<string, Erasure>();
  readonly goals = new SiteItems<Goal>(({ goalId }) => goalId);
  readonly segments = new SiteItems<Segment>(({ segmentId }) => segmentId);
  readonly funnels = new SiteItems<Funnel>(({ funnelId }) => funnelId);
  readonly annotations = new SiteItems<Annotation>(({ annotationId }) => annotationId);
  readonly viewers = new SiteItems<Viewer>(({ viewerId }) => viewerId);
  readonly viewersById = new Map<string, Viewer>();
  readonly viewersByHash = new Map<string, Viewer>();
  readonly tokenUses = new Map<string, TokenUse>();
  readonly signedOut = new Map<string, SignedOut>();
  sessionSecret: SessionSecret | undefined;
  private readonly tombstones = new Map<string, readonly Tombstone[]>();
  private readonly exclusions = new Map<string, Map<string, ExclusionRule>>();
  /** A cache of `exclusionsOf`, because a site can have thousands of rules. A change of a rule removes the list of its site. */
  private readonly exclusionLists = new Map<string, readonly ExclusionRule[]>();
  private readonly imports = new Map<string, ReadonlyMap<string, ImportLedgerEntry>>();
  /** The parts of each replay, by replay ID. The part `request` is put only once and first, so the replays are in the order of their start. */
  private readonly replays = new Map<string, Map<ReplayPart['part'], ReplayPart['value']>>();
  /** The present row of each key of the tables. When a row changes, `apply` removes the old row from the other maps. */
  private readonly rows = new Map<string, RegistryRow>();
  /** Keys of rows of unknown kinds, which a newer version of Weir has written. These rows stay in the table. */
  readonly unknown = new Set<string>();

  /** Applies one change of a table. Returns the ID of the site to which the row belongs, if any. Throws `event_log_damaged` for an unreadable row. */
  apply(key: string, value: string | undefined): string | undefined {
    const old = this.rows.get(key);
    const row = value === undefined ? undefined : readRow(key, value);
    if (value !== undefined && row === undefined) this.unknown.add(key);
    else this.unknown.delete(key);
    if (old !== undefined) this.take(key, old);
    if (row !== undefined) this.put(key, row);
    return siteOf(row ?? old);
  }

  exclusionsOf(siteId: string): readonly ExclusionRule[] {
    let list = this.exclusionLists.get(siteId);
    if (list === undefined) {
      list = [...(this.exclusions.get(siteId)?.values() ?? [])];
      if (list.length > 0) this.exclusionLists.set(siteId, list);
    }
    return list;
  }

  importsOf(siteId: string): ReadonlyMap<string, ImportLedgerEntry> {
    return this.imports.get(siteId) ?? new Map();
  }

  tombstonesOf(siteId: string): readonly Tombstone[] {
    return this.tombstones.get(siteId) ?? NO_TOMBSTONES;
  }

  allTombstones(): readonly Tombstone[] {
    return [...this.tombstones.values()].flat();
  }

  hasTombstones(): boolean {
    return this.tombstones.size > 0;
  }

  /** The salt of a day; if there are several, the first in the log. */
  saltOf(day: string): string | undefined {
    for (const salt of this.salts.get(day)?.values() ?? []) return salt;
    return undefined;
  }

  replay(): Replay | undefined {
    for (const parts of this.replays.values()) {
      if (parts.has('request')) return Object.fromEntries(parts) as unknown as Replay;
    }
    return undefined;
  }

  private put(key: string, row: RegistryRow): void {
    this.rows.set(key, row);
    switch (row.kind) {
      case 'site':
        this.sites.set(row.value.siteId, row.value);
        break;
      case 'key':
        this.keys.put(row.value);
        this.keysByHash.set(row.value.hash, row.value);
        break;
      case 'exclusion': {
        const { siteId, ruleId } = row.value;
        const rules = this.exclusions.get(siteId) ?? new Map<string, ExclusionRule>();
        // A rule that is put again moves to the end, like its row in the log.
        rules.delete(ruleId);
        this.exclusions.set(siteId, rules.set(ruleId, row.value));
        this.exclusionLists.delete(siteId);
        break;
      }
      case 'goal':
        this.goals.put(row.value);
        break;
      case 'segment':
        this.segments.put(row.value);
        break;
      case 'funnel':
        this.funnels.put(row.value);
        break;
      case 'annotation':
        this.annotations.put(row.value);
        break;
      case 'viewer':
        this.viewers.put(row.value);
        this.viewersById.set(row.value.viewerId, row.value);
        this.viewersByHash.set(row.value.hash, row.value);
        break;
      case 'use':
        this.tokenUses.set(row.value.id, row.value);
        break;
      case 'session-secret':
        this.sessionSecret = row.value;
        break;
      case 'signed-out':
        this.signedOut.set(row.value.sessionId, row.value);
        break;
      case 'import':
        this.imports.set(
          row.value.siteId,
          new Map(this.importsOf(row.value.siteId)).set(row.value.fileDigest, row.value),
        );
        break;
      case 'pause':
        this.writersPause = row.value;
        break;
      case 'tombstone':
        this.tombstones.set(row.value.siteId, [...this.tombstonesOf(row.value.siteId), row.value]);
        break;
      case 'erasure':
        this.erasures.set(row.value.erasureId, row.value);
        break;
      case 'expiry':
        this.expiry = row.value;
        break;
      case 'replay': {
        const { replayId } = row.value;
        this.replays.set(replayId, new Map(this.replays.get(replayId)).set(row.part, row.value));
        break;
      }
      case 'salt': {
        const salts = this.salts.get(row.day) ?? new Map<string, string>();
        this.salts.set(row.day, salts.set(key, row.value.salt));
      }
    }
  }

  private take(key: string, row: RegistryRow): void {
    this.rows.delete(key);
    switch (row.kind) {
      case 'site':
        this.sites.delete(row.value.siteId);
        break;
      case 'key':
        this.keys.take(row.value);
        if (this.keysByHash.get(row.value.hash) === row.value) this.keysByHash.delete(row.value.hash);
        break;
      case 'exclusion': {
        const rules = this.exclusions.get(row.value.siteId);
        if (rules?.get(row.value.ruleId) === row.value) rules.delete(row.value.ruleId);
        if (rules?.size === 0) this.exclusions.delete(row.value.siteId);
        this.exclusionLists.delete(row.value.siteId);
        break;
      }
      case 'goal':
        this.goals.take(row.value);
        break;
      case 'segment':
        this.segments.take(row.value);
        break;
      case 'funnel':
        this.funnels.take(row.value);
        break;
      case 'annotation':
        this.annotations.take(row.value);
        break;
      case 'viewer':
        this.viewers.take(row.value);
        this.viewersById.delete(row.value.viewerId);
        this.viewersByHash.delete(row.value.hash);
        break;
      case 'use':
        this.tokenUses.delete(row.value.id);
        break;
      case 'session-secret':
        this.sessionSecret = undefined;
        break;
      case 'signed-out':
        this.signedOut.delete(row.value.sessionId);
        break;
      case 'import': {
        const imports = new Map(this.importsOf(row.value.siteId));
        imports.delete(row.value.fileDigest);
        this.imports.set(row.value.siteId, imports);
        break;
      }
      case 'pause':
        this.writersPause = undefined;
        break;
      case 'tombstone':
        this.tombstones.set(
          row.value.siteId,
          this.tombstonesOf(row.value.siteId).filter((other) => other !== row.value),
        );
        break;
      case 'erasure':
        this.erasures.delete(row.value.erasureId);
        break;
      case 'expiry':
        this.expiry = undefined;
        break;
      case 'replay': {
        const { replayId } = row.value;
        const parts = new Map(this.replays.get(replayId));
        parts.delete(row.part);
        if (parts.size === 0) this.replays.delete(replayId);
        else this.replays.set(replayId, parts);
        break;
      }
      case 'salt': {
        const salts = this.salts.get(row.day);
        salts?.delete(key);
        if (salts?.size === 0) this.salts.delete(row.day);
      }
    }
  }
}

const NO_TOMBSTONES: readonly Tombstone[] = [];

function siteOf(row: RegistryRow | undefined): string | undefined {
  // A row of the kind `use` stores the last use of a token. No listener of changes of a site needs it.
  if (row === undefined || row.kind === 'use') return undefined;
  return 'siteId' in row.value ? row.value.siteId : undefined;
}
