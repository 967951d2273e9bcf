import { focusManager, onlineManager, QueryObserver } from '@tanstack/react-query';
import { createQueryClient } from '../src/api/use-admin.ts';
import { bundlePages } from './rendered-page.ts';

const HOUR_MS = 3_600_000;

test('a page that is shown again after it was hidden requests answers again that are old, and no others', async () => {
  const client = createQueryClient();
  client.mount();
  const asked: string[] = [];
  const observe = (name: string, ageMs: number) =>
    new QueryObserver(client, {
      queryKey: [name],
      queryFn: () => Promise.resolve(asked.push(name)),
      initialData: 0,
      initialDataUpdatedAt: Date.now() - ageMs,
      refetchOnMount: false,
    }).subscribe(() => undefined);
  const ends = [observe('old', HOUR_MS), observe('new', 0)];
  // A cancelled query has no answer. It must not be repeated automatically.
  const cancelled = new QueryObserver(client, {
    queryKey: ['cancelled'],
    queryFn: ({ signal }) => new Promise(() => void signal.addEventListener('abort', () => asked.push('aborted'))),
  });
  ends.push(cancelled.subscribe(() => undefined));
  await client.cancelQueries({ queryKey: ['cancelled'] });
  expect(asked.splice(0)).toEqual(['aborted']);
  focusManager.setFocused(false);
  focusManager.setFocused(true);
  await new Promise(setImmediate);
  for (const end of ends) end();
  focusManager.setFocused(undefined);
  client.unmount();
  client.clear();
  expect(asked).toEqual(['old']);
});

test('while the browser is offline, requests and changes fail at once, and are not sent later', async () => {
  const client = createQueryClient();
  onlineManager.setOnline(false);
  const attempt = async (): Promise<never> => {
    throw new Error('offline');
  };
  const failures: unknown[] = [];
  const record = (error: unknown): void => void failures.push(String(error));
  void client.fetchQuery({ queryKey: ['a report'], queryFn: attempt }).catch(record);
  void client.getMutationCache().build(client, { mutationFn: attempt }).execute(undefined).catch(record);
  await new Promise(setImmediate);
  onlineManager.setOnline(true);
  client.clear();
  expect(failures).toEqual(['Error: offline', 'Error: offline']);
});

test('funnels, cohorts and journeys are requested again while their page is shown', async () => {
  const { render } = await bundlePages(
    'behaviour/funnel-page.tsx',
    'behaviour/retention-page.tsx',
    'behaviour/journeys-page.tsx',
  );
  const address = '/dashboard/sites/s/page?step=page:/&step=event:signup';
  const repeated = (name: string) => render(name, address, { listFunnels: [] }, { isAdmin: false }).repeated;
  expect(repeated('FunnelPage')).toContain('funnel');
  expect(repeated('RetentionPage')).toContain('cohorts');
  expect(repeated('JourneysPage')).toContain('journeys');
});
