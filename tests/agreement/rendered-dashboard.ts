import { build } from 'esbuild';

/** The numbers of one report as the dashboard writes them. */
export interface ShownReport {
  /** For each metric, its number without abbreviation, from the attribute `title`. */
  readonly tiles: Readonly<Record<string, string>>;
  /** For each metric, its change since the earlier period. Empty if the report has no comparison. */
  readonly changes: Readonly<Record<string, string>>;
  /** The cells of the series, in the order of the buckets. */
  readonly series: readonly string[];
  /** The cells of the comparison, in the order of the buckets. Empty if the report has no comparison. */
  readonly earlier: readonly string[];
  readonly rows: readonly (readonly [value: string, number: string])[];
}

export interface RenderedDashboard {
  /** Returns the numbers of the overview page at this URL. */
  stats(url: string): Promise<ShownReport>;
  /** Returns a list of the overview page at this URL. */
  breakdown(url: string, dimension: string, metric: string): Promise<ShownReport>;
}

/**
 * The exports of the bundle of `ENTRY`. If `kind` is `stats`, `render` resolves with the HTML of the overview page. If it is `breakdown`, the HTML is
 * a panel of this page, with `tab` as its only tab.
 */
interface Bundle {
  render(kind: 'stats' | 'breakdown', url: URL, tab: object): Promise<string>;
}

/**
 * The entry of the bundle. It renders components of the dashboard to HTML with React's renderer for servers. The first rendering only registers
 * the queries of the components. Then the dashboard's client sends these queries. The second rendering shows the answers.
 */
const ENTRY = `
import { QueryClientProvider } from '@tanstack/react-query';
import { createElement as h } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { createQueryClient } from './api/use-admin.ts';
import { SiteProvider } from './app/site-context.tsx';
import { OverviewPage } from './overview/overview-page.tsx';
import { Panel } from './overview/panel.tsx';
import { useReportState } from './reports/report-state.ts';

const List = ({ tab }) => h(Panel, { panel: { id: 'list', title: 'panel.pages', tabs: [tab] }, state: useReportState() });

export async function render(kind, { pathname, search }, tab) {
  const client = createQueryClient();
  const [, , , siteId] = pathname.split('/');
  const site = { site_id: decodeURIComponent(siteId), name: 'Site', domain: '', timezone: 'UTC' };
  const page = kind === 'stats' ? h(OverviewPage) : h(List, { tab });
  const html = () => {
    // Sets the address for each rendering, because another page can have been rendered while the answer was loading.
    Object.assign(location, { pathname, search });
    return renderToStaticMarkup(h(QueryClientProvider, { client }, h(SiteProvider, { site, children: page })));
  };
  html();
  const queries = client.getQueryCache().findAll({ queryKey: [kind] });
  if (queries.length !== 1) throw new Error('the page has ' + queries.length + ' queries of ' + kind);
  await queries[0].fetch();
  const shown = html();
  client.clear();
  return shown;
}`;

/** Bundles the dashboard for Node. Its requests go to `origin` with the token. */
export async function renderDashboard(origin: string, token: string): Promise<RenderedDashboard> {
  const { outputFiles } = await build({
    stdin: { contents: ENTRY, resolveDir: 'packages/dashboard/src', loader: 'tsx' },
    ...{ bundle: true, write: false, format: 'cjs', platform: 'node', jsx: 'automatic', logLevel: 'warning' },
    loader: { '.css': 'empty', '.json': 'empty' },
    define: { 'process.env.NODE_ENV': '"production"' },
  });
  const globals = {
    location: { pathname: '', search: '' },
    fetch: (url: string, init: RequestInit) =>
      fetch(`${origin}${url}`, { ...init, headers: { ...init.headers, authorization: `Bearer ${token}` } }),
    navigator: { language: 'en' },
    localStorage: { getItem: () => null },
    matchMedia: () => ({ matches: false }),
  };
  const module = { exports: {} as Bundle };
  const code = outputFiles[0]?.text ?? '';
  // The code reads globals of a browser. They are parameters here, so that the globals of the tests do not change.
  new Function('require', 'module', ...Object.keys(globals), code)(require, module, ...Object.values(globals));
  const show = async (url: string, kind: 'stats' | 'breakdown', tab: object): Promise<ShownReport> =>
    readShown(await module.exports.render(kind, new URL(url, origin), tab));
  return {
    stats: (url) => show(url, 'stats', {}),
    breakdown: (url, dimension, metric) => show(url, 'breakdown', { id: dimension, label: 'tab.page', metric }),
  };
}

function readShown(html: string): ShownReport {
  const all = (pattern: RegExp): readonly (readonly string[])[] =>
    [...html.matchAll(pattern)].map((match) => match.slice(1).map(textOf));
  const tiles = html.split('class="tile"').slice(1);
  const ofTile = (pattern: RegExp): Readonly<Record<string, string>> =>
    Object.fromEntries(
      tiles.flatMap((tile) => {
        const name = /data-metric="(\w+)"/.exec(tile)?.[1];
        const found = pattern.exec(tile)?.[1];
        return name === undefined || found === undefined ? [] : [[name, textOf(found)]];
      }),
    );
  return {
    tiles: ofTile(/data-metric="\w+" title="([^"]*)"/),
    changes: ofTile(/<span class="change[^>]*>(.*?)<\/span><\/button>|<span class="change">(–)/s),
    series: all(/<tr><th scope="row">[^<]*<\/th><td>([^<]*)<\/td>/g).map(([cell = '']) => cell),
    earlier: all(/<\/td><td>[^<]*: ([^<]*)<\/td><\/tr>/g).map(([cell = '']) => cell),
    rows: all(/class="bar-row" title="([^"]*)".*?class="bar-number" title="([^"]*)"/gs) as ShownReport['rows'],
  };
}

/** The text of a piece of HTML. */
function textOf(html = ''): string {
  const names: Readonly<Record<string, string>> = { lt: '<', gt: '>', quot: '"', '#x27': "'", amp: '&' };
  return html.replace(/<[^>]*>/g, '').replace(/&(lt|gt|quot|#x27|amp);/g, (_, name: string) => names[name] ?? '');
}
