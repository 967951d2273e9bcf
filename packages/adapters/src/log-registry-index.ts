import type { ApiKey, ExclusionRule, Site } from '@weir/domain/site';
import type { ImportLedgerEntry } from '@weir/ports/registry';
import { type RegistryRow, readRow } from './log-registry-rows.ts';

/** What the registry's table says, arranged so that every question is one look-up. */
export class RegistryIndex {
  readonly sites = new Map<string, Site>();
  readonly keysByHash = new Map<string, ApiKey>();
  readonly salts = new Map<string, Map<string, string>>();
  private readonly keys = new Map<string, readonly ApiKey[]>();
  private readonly exclusions = new Map<string, readonly ExclusionRule[]>();
  private readonly imports = new Map<string, ReadonlyMap<string, ImportLedgerEntry>>();
  /** What stands under each of the table's keys, to take it away again. */
  private readonly rows = new Map<string, RegistryRow>();

  /** Applies one change of the table and returns the site concerned. Throws `event_log_damaged` on a row it can't read. */
  apply(key: string, value: string | undefined): string | undefined {
    const old = this.rows.get(key);
    const row = value === undefined ? undefined : readRow(key, value);
    if (old !== undefined) this.take(key, old);
    if (row !== undefined) this.put(key, row);
    return siteOf(row ?? old);
  }

  keysOf(siteId: string): readonly ApiKey[] {
    return this.keys.get(siteId) ?? [];
  }

  exclusionsOf(siteId: string): readonly ExclusionRule[] {
    return this.exclusions.get(siteId) ?? [];
  }

  importsOf(siteId: string): ReadonlyMap<string, ImportLedgerEntry> {
    return this.imports.get(siteId) ?? new Map();
  }

  /** The salt of a day: of several, the first in the log. */
  saltOf(day: string): string | undefined {
    for (const salt of this.salts.get(day)?.values() ?? []) return salt;
    return undefined;
  }

  private put(key: string, row: RegistryRow): void {
    this.rows.set(key, row);
    switch (row.kind) {
      case 'site':
        this.sites.set(row.value.siteId, row.value);
        break;
      case 'key': {
        const others = this.keysOf(row.value.siteId).filter((other) => other.keyId !== row.value.keyId);
        this.keys.set(row.value.siteId, [...others, row.value]);
        this.keysByHash.set(row.value.hash, row.value);
        break;
      }
      case 'exclusion': {
        const others = this.exclusionsOf(row.value.siteId).filter((other) => other.ruleId !== row.value.ruleId);
        this.exclusions.set(row.value.siteId, [...others, row.value]);
        break;
      }
      case 'import':
        this.imports.set(
          row.value.siteId,
          new Map(this.importsOf(row.value.siteId)).set(row.value.fileDigest, row.value),
        );
        break;
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
        this.keys.set(
          row.value.siteId,
          this.keysOf(row.value.siteId).filter((other) => other !== row.value),
        );
        if (this.keysByHash.get(row.value.hash) === row.value) this.keysByHash.delete(row.value.hash);
        break;
      case 'exclusion':
        this.exclusions.set(
          row.value.siteId,
          this.exclusionsOf(row.value.siteId).filter((other) => other !== row.value),
        );
        break;
      case 'import': {
        const imports = new Map(this.importsOf(row.value.siteId));
        imports.delete(row.value.fileDigest);
        this.imports.set(row.value.siteId, imports);
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

function siteOf(row: RegistryRow | undefined): string | undefined {
  return row === undefined || row.kind === 'salt' ? undefined : row.value.siteId;
}
