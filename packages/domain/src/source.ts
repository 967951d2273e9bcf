/** Where a visit can come from, as far as channels tell apart. */
export type SourceKind = 'search' | 'social' | 'video' | 'shopping' | 'email' | 'ai' | 'ads' | 'other';

export interface Source {
  /** As people say it: Google, Reddit. */
  readonly name: string;
  readonly kind: SourceKind;
}

/** One source of our own list. `domains` hold their subdomains too, `hosts` are exact, `tags` are what links say in utm_source. */
export interface SourceEntry {
  readonly name: string;
  readonly kind: string;
  readonly domains?: readonly string[];
  readonly hosts?: readonly string[];
  readonly tags?: readonly string[];
}

/** Further sources by exact host, or by host and the start of a path (`google.com/products`). */
export type SourcesByHost = Readonly<Record<string, { readonly source: string; readonly medium: string }>>;

export interface Sources {
  /** The source behind a referrer. `hostname` in lower case. */
  ofReferrer(hostname: string, pathname: string): Source | undefined;
  /** The source that a tag (utm_source, ref, …) names, in any case: a name, an alias or a host. */
  ofTag(tag: string): Source | undefined;
}

const MEDIUM_KINDS: Readonly<Record<string, SourceKind>> = {
  search: 'search',
  social: 'social',
  email: 'email',
  paid: 'ads',
};

/**
 * Our own entries win. Hosts of the further list match exactly, but for `www.`: with suffixes mail.google.com would be a search engine.
 */
export function createSources(entries: readonly SourceEntry[], further: SourcesByHost): Sources {
  const byDomain = new Map<string, Source>();
  const byHost = new Map<string, Source>();
  const byPath = new Map<string, { readonly path: string; readonly source: Source }[]>();
  const byTag = new Map<string, Source>();

  for (const entry of entries) {
    const source: Source = { name: entry.name, kind: entry.kind as SourceKind };
    for (const domain of entry.domains ?? []) byDomain.set(domain, source);
    for (const host of entry.hosts ?? []) byHost.set(host, source);
    for (const tag of entry.tags ?? []) byTag.set(tag, source);
    byTag.set(entry.name.toLowerCase(), source);
  }
  for (const [key, value] of Object.entries(further)) {
    const slash = key.indexOf('/');
    const host = (slash < 0 ? key : key.slice(0, slash)).toLowerCase();
    const source = byTag.get(value.source.toLowerCase()) ?? {
      name: value.source,
      kind: MEDIUM_KINDS[value.medium] ?? 'other',
    };
    const told = value.medium === 'search' || value.medium === 'social' ? source : asMedium(value);
    if (slash >= 0) byPath.set(host, [...(byPath.get(host) ?? []), { path: key.slice(slash), source: told }]);
    else if (!byHost.has(host)) byHost.set(host, told);
    if (!byTag.has(value.source.toLowerCase())) byTag.set(value.source.toLowerCase(), told);
  }

  const ofHost = (hostname: string): Source | undefined => {
    const exact = byHost.get(hostname) ?? (hostname.startsWith('www.') ? byHost.get(hostname.slice(4)) : undefined);
    if (exact !== undefined) return exact;
    for (let rest = hostname; rest.includes('.'); rest = rest.slice(rest.indexOf('.') + 1)) {
      const source = byDomain.get(rest);
      if (source !== undefined) return source;
    }
    return undefined;
  };

  return {
    ofReferrer(hostname, pathname) {
      const paths = byPath.get(hostname) ?? (hostname.startsWith('www.') ? byPath.get(hostname.slice(4)) : undefined);
      return paths?.find((entry) => pathname.startsWith(entry.path))?.source ?? ofHost(hostname);
    },
    ofTag(tag) {
      const lower = tag.trim().toLowerCase();
      return byTag.get(lower) ?? (lower.includes('.') ? ofHost(lower) : undefined);
    },
  };
}

function asMedium(value: { readonly source: string; readonly medium: string }): Source {
  return { name: value.source, kind: MEDIUM_KINDS[value.medium] ?? 'other' };
}
