import { ENTRY_PATTERN, type Tombstone, tombstoneKey } from '@weir/domain/erasure/tombstone';
import { DependencyError } from '@weir/domain/errors';
import { isJsonObject, parseJson } from '@weir/domain/json/json';
import { ACTION_TYPES, type Goal } from '@weir/domain/registry/goal';
import { KEEP_KINDS, KEEP_PATTERN } from '@weir/domain/registry/keep';
import type { ReplayPart } from '@weir/domain/registry/replay';
import type { Annotation, Funnel, Segment } from '@weir/domain/registry/saved';
import type { ApiKey, ExclusionRule, ExclusionType, Scope, Site } from '@weir/domain/registry/site';
import type { SessionSecret, SignedOut, TokenUse, Viewer } from '@weir/domain/registry/viewer';
import type { Erasure, Expiry, ImportLedgerEntry, WritersPause } from '@weir/ports/registry';

/** A row of one of the registry's two tables (one is for salts). Its key starts with its kind: `<kind>/…`. */
export type RegistryRow =
  | { readonly kind: 'site'; readonly value: Site }
  | { readonly kind: 'key'; readonly value: ApiKey }
  | { readonly kind: 'exclusion'; readonly value: ExclusionRule }
  | { readonly kind: 'goal'; readonly value: Goal }
  | { readonly kind: 'segment'; readonly value: Segment }
  | { readonly kind: 'funnel'; readonly value: Funnel }
  | { readonly kind: 'annotation'; readonly value: Annotation }
  | { readonly kind: 'viewer'; readonly value: Viewer }
  | { readonly kind: 'use'; readonly value: TokenUse }
  | { readonly kind: 'session-secret'; readonly value: SessionSecret }
  | { readonly kind: 'signed-out'; readonly value: SignedOut }
  | { readonly kind: 'import'; readonly value: ImportLedgerEntry }
  | { readonly kind: 'pause'; readonly value: WritersPause }
  | { readonly kind: 'tombstone'; readonly value: Tombstone }
  | { readonly kind: 'erasure'; readonly value: Erasure }
  | { readonly kind: 'expiry'; readonly value: Expiry }
  | ({ readonly kind: 'replay' } & ReplayPart)
  | { readonly kind: 'salt'; readonly day: string; readonly value: { readonly salt: string } };

export const rowKey = {
  site: (siteId: string) => `site/${siteId}`,
  key: (siteId: string, keyId: string) => `key/${siteId}/${keyId}`,
  exclusion: (siteId: string, ruleId: string) => `exclusion/${siteId}/${ruleId}`,
  goal: (siteId: string, goalId: string) => `goal/${siteId}/${goalId}`,
  segment: (siteId: string, segmentId: string) => `segment/${siteId}/${segmentId}`,
  funnel: (siteId: string, funnelId: string) => `funnel/${siteId}/${funnelId}`,
  annotation: (siteId: string, annotationId: string) => `annotation/${siteId}/${annotationId}`,
  viewer: (siteId: string, viewerId: string) => `viewer/${siteId}/${viewerId}`,
  use: (siteId: string, id: string) => `use/${siteId}/${id}`,
  sessionSecret: () => 'session-secret/current',
  signedOut: (sessionId: string) => `signed-out/${sessionId}`,
  import: (siteId: string, fileDigest: string) => `import/${siteId}/${fileDigest}`,
  writersPause: () => 'pause/writers',
  tombstone: (tombstone: Tombstone) => `tombstone/${tombstoneKey(tombstone)}`,
  erasure: (erasureId: string) => `erasure/${erasureId}`,
  expiry: () => 'expiry/current',
  replay: (replayId: string, part: ReplayPart['part']) => `replay/${replayId}/${part}`,
  salt: (day: string, maker: string) => `salt/${day}/${maker}`,
};

export const rowPrefix = { replay: 'replay/' };

type Check = (value: unknown) => boolean;

const text: Check = (value) => typeof value === 'string';
const filled: Check = (value) => typeof value === 'string' && value !== '';
const whole: Check = (value) => Number.isSafeInteger(value);
const flag: Check = (value) => typeof value === 'boolean';
const oneOf = (values: readonly string[]): Check => {
  return (value) => values.includes(value as string);
};

const SCOPES: readonly Scope[] = ['events:write', 'identify:write'];
const EXCLUSION_TYPES: readonly ExclusionType[] = [
  'ip',
  'path',
  'hostname',
  'country',
  'user_agent',
  'visitor',
  'bots',
];

function isIdentityVerification(value: unknown): boolean {
  const { secret, secretCreatedAt, required } = (value ?? {}) as Readonly<Record<string, unknown>>;
  return filled(secret) && whole(secretCreatedAt) && flag(required);
}

function isKeep(value: unknown): boolean {
  const kinds: readonly string[] = KEEP_KINDS;
  return Object.entries(value ?? {}).every(
    ([kind, text]) => kinds.includes(kind) && new RegExp(KEEP_PATTERN).test(String(text)),
  );
}

const isHash: Check = (value) => /^[0-9a-f]{64}$/.test(String(value));

const object: Check = (value) => typeof value === 'object' && value !== null;
const listOf = (check: Check): Check => {
  return (value) => Array.isArray(value) && value.every(check);
};
const optional = (check: Check): Check => {
  return (value) => value === undefined || check(value);
};

const FIELDS: Readonly<Record<RegistryRow['kind'], Readonly<Record<string, Check>>>> = {
  site: {
    siteId: filled,
    name: text,
    domain: text,
    timezone: filled,
    createdAt: whole,
    queryAllow: optional(listOf(text)),
    identityVerification: optional(isIdentityVerification),
    keep: optional(isKeep),
    limits: (value) => object(value) && Object.values(value as object).every(whole),
  },
  key: {
    keyId: filled,
    siteId: filled,
    name: text,
    hash: isHash,
    scopes: listOf(oneOf(SCOPES)),
    legacyIdentify: flag,
    createdAt: whole,
  },
  exclusion: { ruleId: filled, siteId: filled, type: oneOf(EXCLUSION_TYPES), value: text, createdAt: whole },
  goal: { goalId: filled, siteId: filled, name: text, type: oneOf(ACTION_TYPES), value: filled, createdAt: whole },
  segment: {
    ...{ segmentId: filled, siteId: filled, name: text, createdAt: whole },
    filters: listOf(filled),
  },
  funnel: {
    ...{ funnelId: filled, siteId: filled, name: text, within: filled, createdAt: whole },
    steps: listOf(filled),
  },
  annotation: { annotationId: filled, siteId: filled, at: whole, text: filled, createdAt: whole },
  viewer: { viewerId: filled, siteId: filled, name: text, hash: isHash, prefix: filled, createdAt: whole },
  use: { siteId: filled, id: filled, at: whole },
  'session-secret': { secret: isHash, createdAt: whole },
  'signed-out': { sessionId: filled, expiresAt: whole },
  import: {
    siteId: filled,
    fileDigest: filled,
    startedAt: whole,
    linesDone: whole,
    linesPending: whole,
    hitsAppended: whole,
    finished: flag,
  },
  pause: {
    ...{ swap: whole, over: flag, requestedAt: whole },
    owner: optional(oneOf(['swap', 'backup'])),
  },
  tombstone: {
    siteId: filled,
    erasureId: filled,
    part: whole,
    at: whole,
    salt: filled,
    whole: flag,
    entries: listOf((entry) => ENTRY_PATTERN.test(entry as string)),
  },
  erasure: {
    siteId: filled,
    erasureId: filled,
    at: whole,
    whole: flag,
    visitors: whole,
    users: whole,
    phase: oneOf(['waiting', 'resolving', 'deleting', 'archive', 'done']),
    removed: object,
    begun: object,
  },
  expiry: {
    expiryId: filled,
    siteIds: listOf(text),
    before: (value) => object(value) && Object.values(value as object).every(whole),
    startedAt: whole,
    phase: oneOf(['waiting', 'deleting']),
    ends: listOf(whole),
  },
  replay: { replayId: filled },
  salt: { salt: isHash },
};

/**
 * Reads a row. Returns `undefined` for an unknown kind of row, which a newer version of Weir has written. Throws `event_log_damaged`
 * for an unreadable row. The message contains the key of the row and the name of the field, but not the value.
 */
export function readRow(key: string, value: string): RegistryRow | undefined {
  const [kind = '', first = '', last = ''] = key.split('/');
  if (!Object.hasOwn(FIELDS, kind)) return undefined;
  const fields = FIELDS[kind as RegistryRow['kind']];
  const parsed = parse(key, value);
  for (const name in fields) {
    if (!fields[name]?.(parsed[name])) throw damaged(key, `has an invalid ${name}`);
  }
  const named = kind === 'salt' ? { day: first } : kind === 'replay' ? { part: last } : {};
  const row = { kind, ...named, value: parsed };
  return row as unknown as RegistryRow;
}

function parse(key: string, value: string): Readonly<Record<string, unknown>> {
  const parsed = parseJson(value);
  if (parsed === undefined) throw damaged(key, 'is not JSON');
  if (!isJsonObject(parsed)) throw damaged(key, 'is not an object');
  return parsed;
}

function damaged(key: string, what: string): DependencyError {
  return new DependencyError('event_log_damaged', `the registry's row ${key.slice(0, 200)} ${what}`);
}
