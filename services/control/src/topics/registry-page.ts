import type { ApiKey, ExclusionRule, Site } from '@weir/domain/registry/site';
import type { Registry } from '@weir/ports/registry';
import type { TopicRecord } from './topic-record.ts';

export interface RegistryPage {
  readonly records: readonly TopicRecord[];
  /** The key of the last row. If there is no row, the key of the request. */
  readonly key: string;
  readonly atEnd: boolean;
}

interface ShownRow {
  readonly key: string;
  readonly siteId: string;
  readonly value: object;
}

/**
 * Returns the current rows of sites, API keys, exclusion rules, goals and imports after `afterKey`, ordered by their keys. `siteId`:
 * undefined for all sites.
 */
export function readRegistryPage(
  registry: Registry,
  {
    siteId,
    afterKey,
    recordsMax,
  }: { readonly siteId: string | undefined; readonly afterKey: string; readonly recordsMax: number },
): RegistryPage {
  const records: TopicRecord[] = [];
  let key = afterKey;
  for (const row of rowsInOrder(registry, siteId, afterKey)) {
    if (records.length === recordsMax) return { records, key, atEnd: false };
    key = row.key;
    records.push(toRecord(row));
  }
  return { records, key, atEnd: true };
}

function toRecord({ key, siteId, value }: ShownRow): TopicRecord {
  const bytes = Buffer.byteLength(JSON.stringify(value));
  return {
    partition: 0,
    offset: null,
    appended_at: null,
    bytes,
    site_id: siteId,
    record: { key, value },
    problem: null,
  };
}

/** All rows of one kind that belong to one site. */
interface RowGroup {
  /** The keys of all rows of the group begin with this text. */
  readonly prefix: string;
  readonly siteId: string;
  readonly rows: () => readonly (readonly [id: string, value: object])[];
}

/** Sorts only one group at a time, because the registry may have millions of rules. */
function* rowsInOrder(registry: Registry, siteId: string | undefined, afterKey: string): Iterable<ShownRow> {
  const groups = registry
    .sites()
    .filter((site) => siteId === undefined || site.siteId === siteId)
    .flatMap((site) => groupsOf(registry, site))
    // Skips the groups whose keys are all before `afterKey`, which is the last key of the previous page.
    .filter(({ prefix }) => prefix > afterKey || afterKey.startsWith(prefix));
  for (const group of groups.sort((a, b) => order(a.prefix, b.prefix))) {
    const rows = group.rows().map(([id, value]) => ({ key: group.prefix + id, siteId: group.siteId, value }));
    yield* rows.filter(({ key }) => key > afterKey).sort((a, b) => order(a.key, b.key));
  }
}

/**
 * The stored rows without secrets. The values of sites, keys and rules are copied field by field, so that a new field, which may be secret, is not
 * shown by accident.
 */
function groupsOf(registry: Registry, { siteId, identityVerification, ...site }: Site): readonly RowGroup[] {
  const { name, domain, timezone, limits, queryAllow, createdAt } = site;
  const verification = identityVerification && {
    identityVerification: {
      secretCreatedAt: identityVerification.secretCreatedAt,
      required: identityVerification.required,
    },
  };
  const shown = { siteId, name, domain, timezone, limits, queryAllow, ...verification, createdAt };
  return [
    { prefix: `site/${siteId}`, siteId, rows: () => [['', shown]] },
    { prefix: `key/${siteId}/`, siteId, rows: () => registry.keys(siteId).map((key) => [key.keyId, shownKey(key)]) },
    {
      prefix: `exclusion/${siteId}/`,
      siteId,
      rows: () => registry.exclusions(siteId).map((rule) => [rule.ruleId, shownRule(rule)]),
    },
    {
      prefix: `goal/${siteId}/`,
      siteId,
      rows: () => registry.goals(siteId).map((goal) => [goal.goalId, { ...goal }]),
    },
    {
      prefix: `import/${siteId}/`,
      siteId,
      rows: () => registry.imports(siteId).map((entry) => [entry.fileDigest, { ...entry }]),
    },
  ];
}

/** An API key without its hash. */
function shownKey({ keyId, siteId, name, scopes, legacyIdentify, createdAt }: ApiKey): object {
  return { keyId, siteId, name, scopes, legacyIdentify, createdAt };
}

/** An exclusion rule. A rule for addresses is shown without its address. */
function shownRule({ ruleId, siteId, type, value, createdAt }: ExclusionRule): object {
  return { ruleId, siteId, type, ...(type === 'ip' ? {} : { value }), createdAt };
}

const order = (a: string, b: string): number => (a < b ? -1 : Number(a > b));
