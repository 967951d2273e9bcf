import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { useSignOut } from '../src/app/session.ts';

let signOut: ReturnType<typeof useSignOut>;

function Probe(): null {
  signOut = useSignOut();
  return null;
}

test.each([
  [200, []],
  [401, []],
  [503, ['weir-sql-history', 'stats']],
])('after a sign-out with the answer %i, the browser still has %j', async (status, left) => {
  const stored = new Set(['weir-sql-history']);
  const fetch = async () => new Response('{}', { status });
  Object.assign(globalThis, { fetch, localStorage: { removeItem: (key: string) => stored.delete(key) } });
  const client = new QueryClient();
  client.setQueryData(['stats'], {});
  renderToStaticMarkup(createElement(QueryClientProvider, { client }, createElement(Probe)));
  // For other statuses, `signOut` rejects, and the page shows the error.
  await signOut(false).catch(() => undefined);
  if (client.getQueryData(['stats']) !== undefined) stored.add('stats');
  client.clear();
  expect([...stored]).toEqual(left);
});
