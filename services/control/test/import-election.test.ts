import { DECIDED_WITHIN_MS, type ImportElection, startImportElection } from '@weir/control/imports/import-election';
import { type ImportTerm, SOLE_TERM } from '@weir/control/imports/import-term';
import { DependencyError } from '@weir/domain/errors';
import { deferred, eventually } from '@weir/testkit/eventually';
import { type ControlHarness, openControlHarness, type Reply } from './control-harness.ts';

type Caller = Pick<ControlHarness, 'call'>;

let weir: ControlHarness;
let gate: Promise<unknown> = Promise.resolve();
let appends = 0;
beforeAll(async () => {
  weir = await openControlHarness((log) => ({
    ...log,
    append: (topic, records) => {
      appends++;
      return gate.then(() => log.append(topic, records));
    },
  }));
});
afterAll(() => weir.close());
const opened: { close(): Promise<unknown> }[] = [];
afterEach(async () => {
  gate = Promise.resolve();
  for (const one of opened.splice(0)) await one.close();
});

const DIGEST = 'd'.repeat(64);
const start = (control: Caller, site: string): Promise<Reply> =>
  control.call('POST', `/sites/${site}/imports`, { file_digest: DIGEST });
const send = (control: Caller, site: string, lease: string): Promise<Reply> =>
  control.call('POST', `/sites/${site}/imports/${DIGEST}/chunks`, {
    lease,
    first_line: 1,
    last_line: 40,
    hits: Array.from({ length: 40 }, (_, index) => ({
      line: index + 1,
      timestamp: 1_431_857_103_000 + index * 1000,
      ip: '192.0.2.1',
      user_agent: 'Mozilla/5.0 (X11; Linux x86_64; rv:25.0) Gecko/20100101 Firefox/25.0',
      url: `https://example.com/${index}`,
      referrer: '',
    })),
  });

async function countRows(site: string): Promise<number> {
  const stored = async () => (await weir.call('GET', '/audit')).body.data.totals.in_flight === 0;
  await eventually('everything is stored', stored);
  const query = 'SELECT count() AS rows FROM events WHERE site_id = {site:String}';
  return Number((await weir.call('POST', '/sql', { query, params: { site } })).body.data.rows[0].rows);
}

/** A control with its own election, as in a process of its own. */
async function openElected() {
  const election: ImportElection = await startImportElection({
    eventLog: weir.eventLog,
    clock: weir.clock,
    onError: (error) => {
      throw error;
    },
  });
  const control = await weir.openControl(election.term);
  opened.push(election, control);
  return { call: control.call, election };
}

/**
 * Resolves when a process accepts imports. Until then, the clock of the test advances quickly, to shorten the election. Then the
 * clock stops, because the `fence` of the elected process fails if it takes longer than 5 s by this clock.
 */
async function elected({ term }: ImportElection): Promise<void> {
  const passing = setInterval(() => weir.advance(1000), 10);
  try {
    await eventually('the election', async () => (await term(new AbortController().signal)) !== undefined);
  } finally {
    clearInterval(passing);
  }
}

test('a chunk that is repeated at a second process while the first one appends it is stored once', async () => {
  const site = await weir.newSite();
  const [first, second] = [await openElected(), await openElected()];
  const lines = async (control: Caller) => (await start(control, site)).body.data?.lines_done;
  await elected(first.election);
  const began = await start(first, site);
  expect(began.status).toBe(200);
  const { lease } = began.body.data;

  const closedGate = deferred();
  gate = closedGate.promise;
  const before = appends;
  const running = send(first, site, lease);
  await eventually('the append of the chunk', () => appends > before);
  expect(weir.registry.import(site, DIGEST)?.linesPending).toBe(40);
  gate = Promise.resolve();
  // For 20 s after its start, the second process would wait for the result of the election. The clock moves past this time.
  weir.advance(DECIDED_WITHIN_MS);
  const repeated = await send(second, site, lease);
  expect([repeated.status, repeated.headers.get('retry-after')]).toEqual([409, '1']);

  // The first process ends as in a rollout: the second one is elected when the chunk is done.
  const closed = first.election.close();
  expect((await send(second, site, lease)).status).toBe(409);
  closedGate.resolve();
  expect((await running).status).toBe(200);
  await closed;
  await elected(second.election);
  expect(await lines(second)).toBe(40);
  weir.advance(DECIDED_WITHIN_MS);
  expect((await send(first, site, lease)).status).toBe(409);
  expect(await countRows(site)).toBe(40);
});

test('a process that is no longer elected appends nothing and changes no row of the ledger', async () => {
  const site = await weir.newSite();
  let lost = false;
  const term: ImportTerm = {
    ...SOLE_TERM,
    async fence() {
      if (lost) throw new DependencyError('partition_lost', 'of the test');
    },
  };
  const control = await weir.openControl(async () => term);
  opened.push(control);
  const { lease } = (await start(control, site)).body.data;
  const before = weir.registry.import(site, DIGEST);
  lost = true;
  expect((await send(control, site, lease)).status).toBe(503);
  expect(weir.registry.import(site, DIGEST)).toEqual(before);
  expect(await countRows(site)).toBe(0);
  lost = false;
  expect((await send(control, site, lease)).status).toBe(200);
  expect(await countRows(site)).toBe(40);
});
