import { isCampaignParameter } from '@weir/domain/acquisition/click-id';
import { cutQuery } from '@weir/domain/ingest/query-allow';
import type { Site } from '@weir/domain/registry/site';

/** The query parameters that a site keeps in its stored URLs. */
export interface QueryCut {
  /** Identifies the list of parameters in the keys of caches. Different lists have different keys. */
  readonly key: string;
  readonly names: ReadonlySet<string>;
}

const byList = new WeakMap<readonly string[], QueryCut>();

/** The result is undefined if the site keeps all parameters. */
export function queryCutOf(site: Site | undefined): QueryCut | undefined {
  const list = site?.queryAllow;
  if (list === undefined) return undefined;
  let cut = byList.get(list);
  if (cut === undefined) {
    cut = { key: JSON.stringify(list), names: new Set(list) };
    byList.set(list, cut);
  }
  return cut;
}

export function cutUrl(url: string, cut: QueryCut | undefined): string {
  return cut === undefined ? url : cutQuery(url, (name) => cut.names.has(name));
}

export function withoutFragment(url: string): string {
  const hash = url.indexOf('#');
  return hash < 0 ? url : url.slice(0, hash);
}

/**
 * Removes query parameters from a path: campaign parameters and click IDs, because they have their own columns, and those that the site does not
 * keep. If the pages of a site are in the fragment (`/#/reset?token=…`), the query is in the fragment too. It can also be after a second `#`.
 */
export function cutPath(path: string, cut: QueryCut | undefined): string {
  const keeps = (name: string) => !isCampaignParameter(name) && (cut === undefined || cut.names.has(name));
  if (!path.includes('#')) return cutQuery(path, keeps);
  return path
    .split('#')
    .map((part) => cutQuery(part, keeps))
    .join('#');
}

/** Returns the query of a path. If the path has a query in its fragment too, or after a second `#`, the result is all of these queries in one. */
export function queryOf(path: string): string {
  return path
    .split('#')
    .flatMap((part) => (part.includes('?') ? part.slice(part.indexOf('?') + 1) : []))
    .join('&');
}
