import { build } from 'esbuild';

/** A component of the dashboard as HTML. */
export interface RenderedPage {
  readonly html: string;
  /** The operations that the page requests again while it is shown. */
  readonly repeated: readonly string[];
  /** The keys of all requests: the operation with its parameters. */
  readonly asked: readonly (readonly unknown[])[];
}

interface Bundle {
  /** Renders the export `name` of a file of src/ at an address, with prepared answers by operation. */
  render(name: string, address: string, answers: object, props: object): RenderedPage;
}

/**
 * The source of the bundle's entry. It renders components to HTML with React's own renderer for servers. `answers` has one answer for each operation,
 * for any parameters.
 */
const entryOf = (files: readonly string[]): string => `
import { QueryClientProvider } from '@tanstack/react-query';
import { createElement as h } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { createQueryClient } from './api/use-admin.ts';
import { SiteProvider } from './app/site-context.tsx';
${files.map((file, index) => `import * as file${index} from './${file}';`).join('\n')}

const isRepeated = (query) => {
  const { refetchInterval: pause = false } = query.options;
  return (typeof pause === 'function' ? pause(query) : pause) !== false;
};

export function render(name, address, answers, props) {
  const [pathname, ...query] = address.split('?');
  Object.assign(location, { pathname, search: query.length === 0 ? '' : '?' + query.join('?') });
  const client = createQueryClient();
  for (const [id, data] of Object.entries(answers)) client.setQueryDefaults([id], { initialData: data });
  const site = { site_id: 's', name: 'Site', domain: '', timezone: 'UTC' };
  const component = { ${files.map((_, index) => `...file${index}`).join(', ')} }[name];
  const html = renderToStaticMarkup(
    h(QueryClientProvider, { client }, h(SiteProvider, { site, children: h(component, props) })),
  );
  const repeated = client.getQueryCache().getAll().filter(isRepeated);
  const asked = client.getQueryCache().getAll().map(({ queryKey }) => queryKey);
  const shown = { html, asked, repeated: repeated.map(({ queryKey }) => queryKey[0]) };
  client.clear();
  return shown;
}`;

/** Bundles files of src/ for Node. Requests get no answer. */
export async function bundlePages(...files: readonly string[]): Promise<Bundle> {
  const { outputFiles } = await build({
    stdin: { contents: entryOf(files), resolveDir: 'packages/dashboard/src', loader: 'tsx' },
    ...{ bundle: true, write: false, format: 'cjs', platform: 'node', jsx: 'automatic', logLevel: 'warning' },
    loader: { '.css': 'empty', '.json': 'empty' },
    define: { 'process.env.NODE_ENV': '"production"' },
  });
  const globals = {
    location: { pathname: '', search: '', hash: '' },
    fetch: () => new Promise(() => undefined),
    navigator: { language: 'en' },
    localStorage: { getItem: () => null },
    matchMedia: () => ({ matches: false }),
  };
  const module = { exports: {} as Bundle };
  const code = outputFiles[0]?.text ?? '';
  // The bundle reads globals of a browser. They are parameters here, so that the globals of the tests do not change.
  new Function('require', 'module', ...Object.keys(globals), code)(require, module, ...Object.values(globals));
  return module.exports;
}
