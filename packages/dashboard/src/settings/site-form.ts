import type { Answer, CallInput } from '../api/call-admin.ts';

export const KEPT = ['events', 'profiles', 'rollups'] as const;
export const LIMITS = ['collect', 'events', 'identify'] as const;

type Field =
  | ('name' | 'domain' | 'timezone' | 'allow')
  | `keep.${(typeof KEPT)[number]}`
  | `limits.${(typeof LIMITS)[number]}`;
/** The texts of the fields of the form. */
export type SiteForm = Readonly<Record<Field, string>>;
type SiteChange = NonNullable<CallInput<'changeSite'>['body']>;

export function formOf(site: Answer<'readSite'>): SiteForm {
  return {
    name: site.name,
    domain: site.domain,
    timezone: site.timezone,
    ...keyed('keep', KEPT, (kind) => site.keep[kind] ?? ''),
    ...keyed('limits', LIMITS, (kind) => String(site.limits[kind] ?? '')),
    allow: site.query_allow === null ? '*' : site.query_allow.join(' '),
  };
}

/**
 * The changes to send. Leaves out fields that were not edited or that have their old value: another administrator may have changed them after this
 * form was opened.
 */
export function changesOf(site: Answer<'readSite'>, edits: Partial<SiteForm>): SiteChange {
  const old = formOf(site);
  const changed = (field: Field): string | undefined => {
    const text = edits[field]?.trim();
    return text === old[field] ? undefined : text;
  };
  const [name, domain, timezone, allow] = [changed('name'), changed('domain'), changed('timezone'), changed('allow')];
  const keep = changedKinds(
    KEPT,
    (kind) => changed(`keep.${kind}`),
    (text) => text || null,
  );
  const limits = changedKinds(
    LIMITS,
    (kind) => changed(`limits.${kind}`),
    (text) => (text ? Number(text) : null),
  );
  return {
    ...(name !== undefined && { name }),
    ...(domain !== undefined && { domain }),
    ...(timezone !== undefined && { timezone }),
    ...(keep && { keep }),
    ...(limits && { limits }),
    ...(allow !== undefined && { query_allow: allow === '*' ? null : allow.split(/[\s,]+/).filter(Boolean) }),
  };
}

/** Whether Weir could remove rows after this change. Null means the setting for all sites, which can be shorter than the retention of the site. */
export function removesRows({ keep }: SiteChange): boolean {
  return Object.values(keep ?? {}).some((time) => time !== 'forever');
}

function keyed<Group extends string, Kind extends string>(
  group: Group,
  kinds: readonly Kind[],
  textOf: (kind: Kind) => string,
): Readonly<Record<`${Group}.${Kind}`, string>> {
  return Object.fromEntries(kinds.map((kind) => [`${group}.${kind}`, textOf(kind)])) as Record<
    `${Group}.${Kind}`,
    string
  >;
}

/** Undefined if nothing was changed. */
function changedKinds<Kind extends string, Value>(
  kinds: readonly Kind[],
  textOf: (kind: Kind) => string | undefined,
  parse: (text: string) => Value,
): Partial<Record<Kind, Value>> | undefined {
  const changes = kinds.flatMap((kind) => {
    const text = textOf(kind);
    return text === undefined ? [] : [[kind, parse(text)] as const];
  });
  return changes.length === 0 ? undefined : (Object.fromEntries(changes) as Partial<Record<Kind, Value>>);
}
