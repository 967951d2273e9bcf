import { createPaidTags, type PaidTag, type PaidTagList } from './paid-tag.ts';

/** The kinds of sources that the channels distinguish. */
export type SourceKind = 'search' | 'social' | 'video' | 'shopping' | 'email' | 'ai' | 'ads' | 'other';

export interface Source {
  /** The usual name of the source: Google, Reddit. */
  readonly name: string;
  readonly kind: SourceKind;
}

/** One source of Weir's own lists. Hosts are in lower case; a last label `*` stands for any public suffix (`google.*`). */
export interface SourceEntry {
  readonly name: string;
  /**
   * True if the name is a common word, so that a campaign tag with this word can mean something else. A tag then names the source only
   * if it is one of `tags` or a host of the source.
   */
  readonly generic?: boolean;
  /** Domains of the source, each with all of its subdomains. */
  readonly domains?: readonly string[];
  /** Exact hosts. A leading `www.` is ignored. */
  readonly hosts?: readonly string[];
  /** An exact host and the start of a path on that host: `bing.com/images`. */
  readonly paths?: readonly string[];
  /** Names of Android packages, in lower case. */
  readonly apps?: readonly string[];
  /** Values of utm_source that name the source, in lower case. */
  readonly tags?: readonly string[];
}

/** A second list of sources, from another project. Each key is an exact host, or a host and the start of a path (`google.com/products`). */
export type SourcesByHost = Readonly<Record<string, { readonly source: string; readonly medium: string }>>;

export interface SourceLists {
  readonly own: Readonly<Partial<Record<SourceKind, readonly SourceEntry[]>>>;
  readonly byHost: SourcesByHost;
  /** First labels of the hosts of webmail services: `webmail`, `mail`. */
  readonly webmailLabels: readonly string[];
  readonly paidTags: PaidTagList;
}

export interface Sources {
  /** The source to which a page belongs. `hostname` must be in lower case. */
  ofReferrer(hostname: string, pathname: string): Source | undefined;
  /** The source to which an Android app belongs. */
  ofApp(id: string): Source | undefined;
  /** The source that a tag (utm_source, ref, …) names. The tag is a name, an alias or a host, in upper or lower case. */
  ofTag(tag: string): Source | undefined;
  /** The source that a tag names, if the tag says that the traffic is paid: `facebook-ads`, `adwords`. */
  ofPaidTag(tag: string): PaidTag<Source> | undefined;
}

const MEDIUM_KINDS: Readonly<Record<string, SourceKind>> = {
  search: 'search',
  social: 'social',
  email: 'email',
  paid: 'ads',
};
/**
 * A source can be in both lists, with different kinds: YouTube is `video` in Weir's own list and `social` in the second one (`further`). Weir's
 * own entry is used if the second list has the source as `search` or `social`, and the kind in Weir's own list is in this set.
 */
const PUBLIC_KINDS: ReadonlySet<SourceKind> = new Set(['search', 'social', 'video', 'shopping']);

interface PathSource {
  readonly path: string;
  readonly source: Source;
}

/**
 * Compiles the lists. The lookup of a page tries, in this order: Weir's own paths, the paths of the second list, Weir's own exact hosts,
 * Weir's own domains, the hosts of the second list, the labels of webmail services. `publicSuffixOf` returns `co.uk` for www.google.co.uk,
 * and `undefined` if the host has no public suffix.
 */
export function createSources(
  { own, byHost: further, webmailLabels, paidTags }: SourceLists,
  publicSuffixOf: (hostname: string) => string | undefined,
): Sources {
  const byName = new Map<string, Source>();
  const byTag = new Map<string, Source>();
  const byDomain = new Map<string, Source>();
  const byHost = new Map<string, Source>();
  const byPath = new Map<string, PathSource[]>();
  const byApp = new Map<string, Source>();
  const byFurtherHost = new Map<string, Source>();
  const byFurtherPath = new Map<string, PathSource[]>();
  const isWebmail = new Set(webmailLabels);

  for (const [kind, entries] of Object.entries(own)) {
    for (const entry of entries) {
      const source: Source = { name: entry.name, kind: kind as SourceKind };
      const name = entry.name.toLowerCase();
      byName.set(name, source);
      if (entry.generic !== true) byTag.set(name, source);
      for (const tag of entry.tags ?? []) byTag.set(tag, source);
      for (const domain of entry.domains ?? []) byDomain.set(domain, source);
      for (const host of entry.hosts ?? []) byHost.set(host, source);
      for (const path of entry.paths ?? []) addPath(byPath, path, source);
      for (const app of entry.apps ?? []) byApp.set(app, source);
    }
  }
  for (const [key, { source: name, medium }] of Object.entries(further)) {
    const lower = name.toLowerCase();
    const ours = byName.get(lower) ?? (medium === 'social' ? byTag.get(lower) : undefined);
    const isOurs = ours !== undefined && PUBLIC_KINDS.has(ours.kind) && (medium === 'search' || medium === 'social');
    const source = isOurs ? ours : { name, kind: MEDIUM_KINDS[medium] ?? 'other' };
    if (key.includes('/')) addPath(byFurtherPath, key.toLowerCase(), source);
    else byFurtherHost.set(key.toLowerCase(), source);
  }

  const ofOwnHost = (hostname: string): Source | undefined => {
    const starred = starOf(hostname, publicSuffixOf(hostname));
    const exact = byHost.get(hostname) ?? byHost.get(starred);
    if (exact !== undefined) return exact;
    for (let at = 0; at >= 0; at = nextLabel(hostname, at)) {
      const source = byDomain.get(hostname.slice(at)) ?? byDomain.get(starred.slice(at));
      if (source !== undefined) return source;
    }
    return undefined;
  };
  const ofHost = (hostname: string): Source | undefined =>
    ofOwnHost(bare(hostname)) ?? byFurtherHost.get(hostname) ?? byFurtherHost.get(bare(hostname));
  const ofPath = (hostname: string, pathname: string): Source | undefined => {
    const host = bare(hostname);
    const paths = byPath.get(host) ?? byPath.get(starOf(host, publicSuffixOf(host))) ?? [];
    const starts = ({ path }: PathSource): boolean => pathname.startsWith(path);
    return (paths.find(starts) ?? byFurtherPath.get(host)?.find(starts))?.source;
  };
  /**
   * Recognises a webmail host that is in no list by its first label, as in `webmail.example.com`. The name of the source is the
   * whole host.
   */
  const ofWebmail = (hostname: string): Source | undefined => {
    const label = hostname.slice(0, Math.max(0, hostname.indexOf('.'))).replace(/-?\d+$/, '');
    if (!isWebmail.has(label) || hostname.indexOf('.') === hostname.lastIndexOf('.')) return undefined;
    return { name: hostname, kind: 'email' };
  };

  return {
    ofReferrer: (hostname, pathname) => ofPath(hostname, pathname) ?? ofHost(hostname) ?? ofWebmail(hostname),
    ofPaidTag: createPaidTags(paidTags, (name) => byName.get(name.toLowerCase()) ?? { name, kind: 'ads' }),
    ofApp: (id) => byApp.get(id) ?? byFurtherHost.get(id),
    ofTag(tag) {
      const lower = tag.trim().toLowerCase();
      return byTag.get(lower) ?? (lower.includes('.') ? ofHost(lower) : undefined);
    },
  };
}

function addPath(paths: Map<string, PathSource[]>, text: string, source: Source): void {
  const slash = text.indexOf('/');
  const host = text.slice(0, slash);
  paths.set(host, [...(paths.get(host) ?? []), { path: text.slice(slash), source }]);
}

function bare(hostname: string): string {
  return hostname.startsWith('www.') ? hostname.slice(4) : hostname;
}

/**
 * Replaces the public suffix: `google.co.uk` becomes `google.*`. Each label still starts at the same position. Empty if the host has no
 * such suffix.
 */
function starOf(hostname: string, suffix: string | undefined): string {
  return suffix === undefined || !hostname.endsWith(`.${suffix}`) ? '' : `${hostname.slice(0, -suffix.length)}*`;
}

/** The position at which the next label starts; -1 if there is none. */
function nextLabel(hostname: string, at: number): number {
  const dot = hostname.indexOf('.', at);
  return dot < 0 ? -1 : dot + 1;
}
