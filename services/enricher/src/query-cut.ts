import { isCampaignParameter } from '@weir/domain/click-id';
import { cutQuery } from '@weir/domain/query-allow';
import type { Site } from '@weir/domain/site';

/** What a site's stored URLs keep of their queries. */
export interface QueryCut {
  /** Tells two lists apart. */
  readonly key: string;
  readonly names: ReadonlySet<string>;
}

const byList = new WeakMap<readonly string[], QueryCut>();

/** Undefined: everything stays. */
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

/** A path that was sent with a query loses what has a column of its own, the click ID among it (issue 5, Source). */
export function cutPath(path: string, cut: QueryCut | undefined): string {
  return cutQuery(path, (name) => !isCampaignParameter(name) && (cut === undefined || cut.names.has(name)));
}
