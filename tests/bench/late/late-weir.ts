import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '@weir/testkit/eventually';
import { createWeirClient } from '@weir/testkit/weir-client';
import type { Programs } from '../build-programs.ts';
import { ADMIN_TOKEN, startWeirIn } from '../load/bench-servers.ts';

const SITE = 'late';
const STORED_WITHIN_MS = 1_800_000;
const BUILT_WITHIN_MS = 600_000;

/** What Weir has stored after the import. */
export interface Stored {
  /** The seconds from the start of `weir import` to its end. */
  readonly importSeconds: number;
  /** The seconds from the start of `weir import` until all rows can be queried. */
  readonly storedSeconds: number;
  /** The rows of people whose hits moved or joined sessions of rows that were stored before. */
  readonly moving: number;
  /** The rows of people without a valid stamp (docs/glossary.md). Reports compute the visits of these rows. */
  readonly computed: number;
}

/** A Weir with all roles in one process and a site with the traffic. */
export interface LateWeir {
  /**
   * Imports an access log with `rows` lines, unless an earlier run has done it in the same folder. Resolves when all rows can be queried, and the
   * audit has found nothing.
   */
  fill(file: string, rows: number): Promise<Stored>;
  /** The number of days whose slots (docs/glossary.md) are built. */
  builtDays(): Promise<number>;
  /** Stops and starts Weir. Control then builds the slots of all closed days, if the site is large enough. Resolves when `days` days are built. */
  restart(days: number): Promise<void>;
  /** Requests a report. `path`: the part of its URL after the site. Resolves with the answer, and the time of the request in milliseconds. */
  ask(path: string): Promise<{ readonly data: unknown; readonly ms: number }>;
  /** Sums and hashes of all visits, for each day. They are equal if all visits have the same times, pages and attributes. */
  visits(): Promise<unknown>;
  stop(): Promise<void>;
}

/** Starts a Weir. `dataDir`: a folder of a former run with the same traffic, or an empty folder. */
export async function startLateWeir(programs: Programs, dataDir: string): Promise<LateWeir> {
  mkdirSync(dataDir, { recursive: true });
  const filled = join(dataDir, 'filled.json');
  let weir = await startWeirIn(programs, dataDir);
  let client = createWeirClient([weir.url], ADMIN_TOKEN);
  if (!existsSync(filled)) await client.createSite({ site_id: SITE, domain: 'www.example.com', timezone: 'UTC' });
  const number = (sql: string): Promise<number> => client.number(sql, { site: SITE });
  const builtDays = (): Promise<number> =>
    number('SELECT uniqExact(day) FROM visit_days WHERE site_id = {site:String}');

  return {
    async fill(file, rows) {
      if (existsSync(filled)) return JSON.parse(readFileSync(filled, 'utf8')) as Stored;
      const startedAt = performance.now();
      const seconds = (): number => (performance.now() - startedAt) / 1000;
      const env = { WEIR_URL: weir.url, WEIR_ADMIN_TOKEN: ADMIN_TOKEN };
      await programs.run('weir', ['import', file, '--site', SITE, '--format', 'combined', '--json'], env);
      const importSeconds = seconds();
      await eventually(
        `${rows} rows`,
        async () => (await number(`SELECT count() FROM records WHERE site_id = {site:String}`)) >= rows,
        STORED_WITHIN_MS,
      );
      const storedSeconds = seconds();
      const stored = await number(`SELECT count() FROM records WHERE site_id = {site:String} AND outcome = 'row'`);
      if (stored !== rows) throw new Error(`${stored} rows are stored, not ${rows}`);
      await client.settled();
      await client.balanced();
      // The visitor ID of an imported hit depends on the day of its receipt (docs/api.md, Cookieless mode).
      const days = await number(`SELECT uniqExact(toDate(received_at)) FROM records WHERE site_id = {site:String}`);
      if (days !== 1)
        throw new Error('the import continued over midnight UTC, so its numbers cannot be compared: run it again');
      const count = (where: string): Promise<number> =>
        number(`SELECT count() FROM records WHERE site_id = {site:String} AND bot = '' AND ${where}`);
      const found: Stored = {
        ...{ importSeconds, storedSeconds },
        moving: await count("detail LIKE '%session_moved%'"),
        computed: await count('visit_stamp != 1'),
      };
      writeFileSync(filled, JSON.stringify(found));
      return found;
    },
    builtDays,
    async restart(days) {
      await weir.stop();
      weir = await startWeirIn(programs, dataDir);
      client = createWeirClient([weir.url], ADMIN_TOKEN);
      await eventually(`${days} built days`, async () => (await builtDays()) >= days, BUILT_WITHIN_MS);
    },
    async ask(path) {
      const startedAt = performance.now();
      const answer = await client.admin('GET', `/sites/${SITE}/${path}`);
      const ms = performance.now() - startedAt;
      if (answer.status !== 200) throw new Error(`${path} answered ${answer.status} ${answer.text}`);
      return { data: (answer.json as { readonly data: unknown }).data, ms };
    },
    visits: () =>
      client.sql(
        `SELECT toDate(started_at) AS day, count() AS visits, sum(pageviews) AS views, sum(duration_seconds) AS seconds, sum(is_bounce) AS bounces,
  toString(sum(cityHash64(started_at, ended_at, pageviews, entry_path, exit_path, referrer_domain, channel, traffic_source, utm_source, utm_medium,
    utm_campaign, utm_term, utm_content, country, region, city, browser, os, device_type))) AS hashes
FROM sessions WHERE site_id = {site:String} GROUP BY day ORDER BY day`,
        { site: SITE },
      ),
    stop: () => weir.stop(),
  };
}
