import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { expectedTables } from './model-people.ts';
import { type Model, modelOf } from './model-rows.ts';
import { readSiteTables } from './read-site-tables.ts';
import { type Lane, type Lanes, openLanes, type Sending } from './report-lanes.ts';
import type { Answer, ReportModel } from './report-model.ts';
import { REPORT_MODELS } from './report-models.ts';
import { type History, history } from './sent-history.ts';

/**
 * The number of random histories (`WEIR_MODEL_CASES`). For each history, the reports and tables are compared with a model in plain TypeScript.
 * `WEIR_MODEL_SEED` sets the seed of the first history; each further history has the next seed. A failure prints its seed.
 */
const CASES = Number(process.env.WEIR_MODEL_CASES ?? 12);
const FIRST_SEED = Number(process.env.WEIR_MODEL_SEED ?? Math.floor(Math.random() * 2 ** 31));
const LANES = 2;
/** The number of histories that are sent before their reports are requested. */
const BATCH = 24;
const SHRINK_RUNS_MAX = 60;
/** A case needs 8 to 19 s on a slow machine that runs three suites at once. */
const CASE_WITHIN_MS = 30_000;

let opened: Lanes;
/** The models of all sites of this test, by the ID of the site. */
const models = new Map<string, Model>();
beforeAll(async () => {
  opened = await openLanes(LANES);
});
afterAll(() => opened?.close());

interface Asked {
  readonly report: ReportModel;
  readonly question: unknown;
}

interface Case {
  readonly seed: number;
  readonly history: History;
  readonly asked: readonly Asked[];
}

/** Generates a history and its questions from a seed. Without `noBias`, fast-check would usually return a small first value. */
function caseOf(seed: number): Case {
  const [made] = fc.sample(fc.noBias(history), { seed, numRuns: 1 });
  if (made === undefined) throw new Error('fast-check generated nothing');
  return { seed, history: made, asked: askedOf(made, seed) };
}

/** Generates the questions to each report. They do not depend on which other reports are in the list. */
function askedOf(made: History, seed: number): readonly Asked[] {
  const model = modelOf(made);
  return REPORT_MODELS.flatMap((report) => {
    const { name, questions = 1 } = report;
    return Array.from({ length: questions }, (_, nth) => {
      const ownSeed = createHash('sha256').update(`${seed} ${name} ${nth}`).digest().readInt32LE();
      const arbitrary = fc.noBias(report.question(model, seed * questions + nth));
      return { report, question: fc.sample(arbitrary, { seed: ownSeed, numRuns: 1 })[0] };
    });
  });
}

interface Difference {
  readonly of: string;
  /** The question that has another answer. Undefined: the tables differ. */
  readonly asked?: Asked;
  readonly found: unknown;
  readonly wanted: unknown;
}

/** The first difference between the model and the tables or the answers; undefined if all are equal. */
async function differenceOf(lane: Lane, site: string, tables: object, one: Case): Promise<Difference | undefined> {
  const model = modelOf(one.history);
  const wantedTables = expectedTables(model);
  if (!isEqual(tables, wantedTables)) return { of: 'tables', found: tables, wanted: wantedTables };
  for (const asked of one.asked) {
    const { report } = asked;
    lane.now = nowOf(one);
    const question = (await report.prepare?.(lane, site, asked.question)) ?? asked.question;
    const of = report.path(question);
    const answer = await lane.client.admin('GET', report.isOfAllSites ? of : `/sites/${site}${of}`);
    if (answer.status !== 200) return { of, asked, found: answer.text, wanted: 'status 200' };
    const found = report.shown((answer.json as { readonly data: Answer }).data);
    const wanted = report.expected(model, question, lane.now, models);
    if (!isEqual(found, wanted)) return { of, asked, found, wanted };
  }
  return undefined;
}

function isEqual(found: unknown, wanted: unknown): boolean {
  try {
    expect(found).toEqual(wanted);
    return true;
  } catch {
    return false;
  }
}

/** For every second history, the reports read slots (docs/glossary.md), if slots can answer the question. */
const readsSlots = (seed: number): boolean => seed % 2 === 0;
/** For half of the histories, slots are also built after a part of the records. The later records make these slots invalid. */
const buildsEarly = (seed: number): boolean => seed % 4 < 2;
let builtDays = 0;

async function runCases(cases: readonly Case[]): Promise<(Case & { readonly difference: Difference }) | undefined> {
  const sites = new Map<Case, { readonly lane: Lane; readonly site: string; readonly sending: Sending }>();
  const inLanes = (work: (lane: Lane, one: Case) => Promise<void>): Promise<unknown> =>
    Promise.all(
      opened.lanes.map(async (lane, nth) => {
        for (const one of cases.filter((_, index) => index % opened.lanes.length === nth)) await work(lane, one);
      }),
    );
  await inLanes(async (lane, one) => {
    const sending = await lane.begin(one.history);
    const { site } = sending;
    const { length } = one.history.sent;
    await sending.sendUntil(buildsEarly(one.seed) ? Math.floor((length * 3) / 4) : length);
    sites.set(one, { lane, site, sending });
    models.set(site, modelOf(one.history));
  });
  await opened.settled();
  for (const [{ seed }, { site }] of sites) if (buildsEarly(seed)) await opened.buildSlots(site);
  await inLanes((_, one) => sites.get(one)?.sending.sendUntil(one.history.sent.length) ?? Promise.resolve());
  await opened.settled();
  for (const [{ seed }, { site }] of sites) if (readsSlots(seed)) builtDays += await opened.buildSlots(site);
  const tables = await readSiteTables(
    (opened.lanes[0] as Lane).client,
    [...sites.values()].map(({ site }) => site),
  );
  let failed: (Case & { readonly difference: Difference }) | undefined;
  await inLanes(async (lane, one) => {
    if (failed !== undefined) return;
    const site = sites.get(one)?.site ?? '';
    const difference = await differenceOf(lane, site, tables(site), one);
    if (difference !== undefined) failed ??= { ...one, difference };
  });
  return failed;
}

/** The present time for the reports of a history: on its last day, or up to two days later. */
function nowOf({ seed, history: { base } }: Case): number {
  return base + 2.5 * 86_400_000 + ((seed * 7_919) % (2 * 86_400_000));
}

/** Makes a failing history shorter: removes records as long as the history still fails. Keeps only the question that failed. */
async function shrunk(failing: Case & { readonly difference: Difference }) {
  let smallest = failing;
  let runs = 0;
  const { asked: differing } = failing.difference;
  const asked = differing === undefined ? [] : [differing];
  for (let size = Math.ceil(failing.history.sent.length / 2); size >= 1; size = Math.floor(size / 2)) {
    for (let from = 0; from < smallest.history.sent.length && runs < SHRINK_RUNS_MAX; ) {
      runs += 1;
      const sent = smallest.history.sent.filter((_, index) => index < from || index >= from + size);
      const history = { ...smallest.history, sent };
      const still = await runCases([{ ...smallest, history, asked }]);
      if (still === undefined) from += size;
      else smallest = still;
    }
  }
  return smallest;
}

/** A failing history as text, with one line per record. Omits the fields `values` and `text`, which would make the lines long. */
function shownHistory({ zone, base, sent }: History): string {
  const short = (name: string, value: unknown): unknown => (name === 'values' || name === 'text' ? undefined : value);
  return [`zone ${zone}, base ${base}`, ...sent.map((one) => JSON.stringify(one, short))].join('\n');
}

test(
  `reports and tables of ${CASES} random histories equal those of a model (WEIR_MODEL_SEED=${FIRST_SEED})`,
  async () => {
    for (let first = 0; first < CASES; first += BATCH) {
      const cases = Array.from({ length: Math.min(BATCH, CASES - first) }, (_, n) => caseOf(FIRST_SEED + first + n));
      const failed = await runCases(cases);
      if (failed === undefined) continue;
      const { history: least, difference } = await shrunk(failed);
      // A report about all sites can fail because of another site.
      const isAlone = difference.asked?.report.isOfAllSites !== true;
      const [seed, count] = isAlone ? [failed.seed, 1] : [FIRST_SEED, first + cases.length];
      console.error(
        `WEIR_MODEL_SEED=${seed} WEIR_MODEL_CASES=${count} repeats this failure: ${difference.of}\n${shownHistory(least)}`,
      );
      expect(difference.found).toEqual(difference.wanted);
    }
    if (CASES > 1) expect(builtDays).toBeGreaterThan(0);
  },
  60_000 + CASES * CASE_WITHIN_MS,
);
