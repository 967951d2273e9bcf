import { eventually } from '@weir/testkit/eventually';
import { createWeirClient, type WeirClient } from '@weir/testkit/weir-client';
import { startWeir, type WeirProcess } from '@weir/testkit/weir-process';

/**
 * Settings of the Weir that the acceptance suite runs against. An own deployment (`WEIR_ACCEPTANCE_URL`, one gateway or
 * several separated by commas, with `WEIR_ADMIN_TOKEN`) has to be started with them. Limits so high that only the tests
 * of limits meet them; loopback is a proxy that is believed, so that a test can choose its address.
 */
export const ACCEPTANCE_ENV = {
  RATE_LIMIT_COLLECT: '1000000',
  RATE_LIMIT_EVENTS: '1000000',
  RATE_LIMIT_IDENTIFY: '1000000',
  TRUSTED_PROXIES: '127.0.0.1',
  COLLECT_PATHS: '/t/hit,/measure',
};

const urls = (process.env.WEIR_ACCEPTANCE_URL ?? '').split(',').filter((url) => url !== '');

/** Tests that start, stop or configure a Weir of their own: they say nothing about a deployment that already runs. */
export const describeOwnProcess = urls.length === 0 ? describe : describe.skip;

/** One Weir for the file: the running deployment, else a process that this starts before and stops after all tests. */
export function useWeir(): WeirClient {
  if (urls.length > 0) return createWeirClient(urls, process.env.WEIR_ADMIN_TOKEN ?? '');
  return useOwnWeir(ACCEPTANCE_ENV).client;
}

/** A process with other settings, for the tests around this call. Its members can be used inside of tests only. */
export function useOwnWeir(env: Readonly<Record<string, string>>): WeirProcess {
  let weir: WeirProcess | undefined;
  beforeAll(async () => {
    weir = await startWeir({ env });
  });
  afterAll(() => weir?.stop());
  const later = <T extends object>(get: () => T): T =>
    new Proxy({} as T, { get: (_, name) => Reflect.get(get(), name) as unknown });
  const current = (): WeirProcess => {
    if (weir === undefined) throw new Error('Weir did not start');
    return weir;
  };
  return new Proxy({} as WeirProcess, {
    get: (_, name) => (name === 'client' ? later(() => current().client) : (Reflect.get(current(), name) as unknown)),
  });
}

/** So many visitors are in every partition that matters: no enricher is without one of them. */
const VISITORS = 32;

/**
 * Resolves when what was changed so far is in force in every process; in one process it is at once. The registry is one ordered log, so an
 * enricher that drops by a younger rule, of a site made for this, knows all that is older.
 */
export async function inForceEverywhere(): Promise<void> {
  if (urls.length === 0) return;
  const client = useWeir();
  const site = await client.createSite();
  await client.must(201, 'POST', `/sites/${site}/exclusions`, { type: 'path', value: '/' });
  const stored = (table: string) =>
    client.number(`SELECT count() FROM ${table} WHERE site_id = {site:String}`, { site });
  await eventually('each enricher to know the rule', async () => {
    const [kept, dropped] = [await stored('events'), await stored('outcomes')];
    for (let n = 0; n < VISITORS; n++) {
      const hit = { site_id: site, visitor_id: `v${n}`, session_id: 's', type: 'pageview', pathname: '/' };
      await client.collect(hit);
    }
    await eventually('all to be stored', async () => {
      const more = (await stored('outcomes')) - dropped + (await stored('events')) - kept;
      return more >= VISITORS;
    });
    return (await stored('events')) === kept;
  });
}
