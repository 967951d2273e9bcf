import { eventually } from '@weir/testkit/eventually';
import { createWeirClient, type WeirClient } from '@weir/testkit/weir-client';
import { startWeir, type WeirProcess } from '@weir/testkit/weir-process';

/**
 * The settings of Weir for the acceptance suite. To test an existing deployment, start it with these settings, and set `WEIR_ACCEPTANCE_URL` (the
 * URLs of the gateways, separated by commas) and `WEIR_ADMIN_TOKEN`. Only the tests of rate limits reach these limits. Loopback is a trusted
 * proxy, so that a test can choose its client IP.
 */
export const ACCEPTANCE_ENV = {
  RATE_LIMIT_COLLECT: '1000000',
  RATE_LIMIT_EVENTS: '1000000',
  RATE_LIMIT_IDENTIFY: '1000000',
  TRUSTED_PROXIES: '127.0.0.1',
  COLLECT_PATHS: '/t/hit,/measure',
};

const urls = (process.env.WEIR_ACCEPTANCE_URL ?? '').split(',').filter((url) => url !== '');

/** For tests that start, stop or configure their own Weir. They are skipped if the suite tests an existing deployment. */
export const describeOwnProcess = urls.length === 0 ? describe : describe.skip;

/**
 * Returns a client of one Weir for all tests of a file: of the existing deployment, or of a process that is started before the tests and stopped
 * after them.
 */
export function useWeir(): WeirClient {
  if (urls.length > 0) return createWeirClient(urls, process.env.WEIR_ADMIN_TOKEN ?? '');
  return useOwnWeir(ACCEPTANCE_ENV).client;
}

/**
 * Starts a process with these settings for the tests of the surrounding `describe` block or file. The members of the result can only be used
 * inside tests.
 */
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

/** With this many visitors, their records are in the partitions of all enrichers. */
const VISITORS = 32;

/**
 * Resolves when every process has applied all earlier changes. (A single process applies changes immediately.) Creates a site with an exclusion
 * rule, and waits until each enricher applies the rule. All changes are in one ordered log (the registry), so each enricher has then applied the
 * earlier changes too.
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
