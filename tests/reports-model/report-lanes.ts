import { createHash, randomBytes, randomFillSync } from 'node:crypto';
import { createMemoryRateLimiter } from '@weir/adapters/redis/memory-rate-limiter';
import { createControl } from '@weir/control/control';
import { SOLE_TERM } from '@weir/control/imports/import-term';
import { buildDays } from '@weir/control/visit-slots/build-days';
import { daysToBuild } from '@weir/control/visit-slots/days-to-build';
import { createEventIds } from '@weir/domain/ingest/event-id';
import { GROUP_ENRICHER, GROUP_WRITER, TOPIC_ENRICHED, TOPIC_RAW } from '@weir/domain/records/topics';
import { KEEP_FOREVER } from '@weir/domain/registry/keep';
import { createFindClientIp } from '@weir/gateway/admission/find-client-ip';
import { createProxyMisconfigurationDetector } from '@weir/gateway/admission/proxy-misconfiguration-detector';
import { createGateway } from '@weir/gateway/app';
import { createAddressSealer } from '@weir/runtime/address-sealer';
import { startHttpServer } from '@weir/runtime/http/http-server';
import { createLogger } from '@weir/runtime/logger';
import { createMetrics } from '@weir/runtime/prometheus-metrics';
import { eventually } from '@weir/testkit/eventually';
import { createWeirClient, type WeirClient } from '@weir/testkit/weir-client';
import { ADMIN_TOKEN, type ControlHarness, openControlHarness } from '../../services/control/test/control-harness.ts';
import { importedAt, isLine } from './model-rows.ts';
import {
  HISTORY_MS,
  type History,
  type Hit,
  type Identify,
  type ServerEvent,
  sessionOf,
  visitorOf,
} from './sent-history.ts';
import { BOT, DROPPED_PATH, SITE_URL } from './sent-parts.ts';

/**
 * A gateway and an admin API with their own clock. The test sets the clock before each hit to the time of receipt that the hit has in its
 * history.
 */
export interface Lane {
  now: number;
  readonly client: WeirClient;
  /** Sends a history to a new site. Resolves with the site when all records are answered. */
  send(history: History): Promise<string>;
  /** Makes a new site for a history, whose records can then be sent in several parts. */
  begin(history: History): Promise<Sending>;
}

export interface Sending {
  readonly site: string;
  /** Sends the next records of the history, at least up to the one with this index (exclusive). Resolves when all of them are answered. */
  sendUntil(end: number): Promise<void>;
}

export interface Lanes {
  readonly lanes: readonly Lane[];
  /** Resolves when the tables contain all records that were answered. */
  settled(): Promise<void>;
  /**
   * Builds slots (docs/glossary.md) for days of a site if possible. Reports then read the slots of these days instead of the rows. Resolves with
   * the number of built days.
   */
  buildSlots(site: string): Promise<number>;
  /** True: the location lookup fails, and each record with an address that was not looked up before becomes a dead letter. False: it works. */
  failPlaces(fail: boolean): void;
  close(): Promise<void>;
}

const PROXIES = { trustedProxies: ['127.0.0.1'], clientIpHeader: undefined };
const NO_LIMIT = 1e9;
const SETTLED_WITHIN_MS = 300_000;
const DRAIN_MS = 30_000;

/**
 * Opens lanes that share one log, one enricher, one writer and one embedded ClickHouse. A test can send a history to each lane at the same time.
 * `dashboardDir`: the folder of the built dashboard, which each lane then serves.
 */
export async function openLanes(count: number, dashboardDir = ''): Promise<Lanes> {
  const engines = await openControlHarness();
  const opened = await Promise.all(Array.from({ length: count }, () => openLane(engines, dashboardDir)));
  const { eventLog } = engines;
  return {
    lanes: opened.map(({ lane }) => lane),
    async settled() {
      for (const [topic, group] of [
        [TOPIC_RAW, GROUP_ENRICHER],
        [TOPIC_ENRICHED, GROUP_WRITER],
      ] as const) {
        await eventually(
          `${group} to commit all records`,
          async () => (await eventLog.positions(topic, group)).every(({ end, committed }) => (committed ?? 0) === end),
          SETTLED_WITHIN_MS,
        );
      }
    },
    async buildSlots(site) {
      const { analytics } = engines;
      const change = (statement: string) => analytics.change(statement);
      const context = { analytics, clock: Date.now, assertUnchanged: () => undefined, change };
      let built = 0;
      for (const days of await daysToBuild(analytics, site, () => false))
        built += (await buildDays(context, days)).days;
      return built;
    },
    failPlaces: engines.failPlaces,
    async close() {
      for (const { close } of opened) await close();
      await engines.close();
    },
  };
}

async function openLane(engines: ControlHarness, dashboardDir: string) {
  const { registry, eventLog, stateStore, analytics, shadow } = engines;
  const logger = createLogger('error');
  const addressSealer = createAddressSealer({ registry, randomBytes });
  const proxyDetector = createProxyMisconfigurationDetector();
  const rateLimiter = createMemoryRateLimiter();
  const clock = (): number => lane.now;
  const control = createControl({
    ...{ registry, eventLog, analytics, shadow, rateLimiter, addressSealer, clock, randomBytes, logger },
    adminToken: ADMIN_TOKEN,
    dashboardDir,
    closing: new AbortController().signal,
    replayProblem: async () => undefined,
    importTerm: async () => SOLE_TERM,
    pipelineStatus: async () => [],
    findClientIp: createFindClientIp(PROXIES),
    proxies: PROXIES,
    retention: { rawRetentionMs: 72 * 3_600_000, enrichedRetentionMs: Number.POSITIVE_INFINITY },
    keep: KEEP_FOREVER,
    locate: async () => ({ place: undefined, data: '', problem: '' }),
    judgeBot: () => '',
    archive: undefined,
    detachedUntil: () => undefined,
    installation: { disks: async () => [], engines: () => [], parquetProblem: () => undefined },
    backups: undefined,
    singleNetworkSites: undefined,
  });
  const gateway = createGateway({
    ...{ registry, eventLog, stateStore, rateLimiter, addressSealer, clock, logger, proxyDetector },
    config: {
      ...PROXIES,
      collectPaths: [],
      rateLimits: { collect: NO_LIMIT, events: NO_LIMIT, identify: NO_LIMIT },
      batch: { appendLingerMs: 0 },
    },
    newEventId: createEventIds(clock, randomFillSync),
    metrics: createMetrics(),
    ready: async () => [],
    openApiDocument: {},
    routers: [control.router],
  });
  const server = await startHttpServer({ ...gateway, host: '127.0.0.1', port: 0, logger });
  const client = createWeirClient([`http://127.0.0.1:${server.port}`], ADMIN_TOKEN);
  const lane: Lane = { now: Date.now(), client, begin: (history) => beginHistory(lane, history), send };
  async function send(history: History): Promise<string> {
    const { site, sendUntil } = await lane.begin(history);
    await sendUntil(history.sent.length);
    return site;
  }
  return {
    lane,
    async close() {
      await server.close(DRAIN_MS);
      await gateway.drain();
      await rateLimiter.close();
    },
  };
}

async function beginHistory(lane: Lane, history: History): Promise<Sending> {
  const { client } = lane;
  lane.now = history.base + HISTORY_MS;
  const site = await client.createSite({ timezone: history.zone });
  await client.must(201, 'POST', `/sites/${site}/exclusions`, { type: 'path', value: DROPPED_PATH });
  const { key } = await client.createKey(site);
  const keys = new Set<string>();
  let index = 0;
  return {
    site,
    async sendUntil(end) {
      while (index < end) {
        const lines = linesFrom(history, index);
        const sent = history.sent[index];
        index += Math.max(lines.length, 1);
        if (lines.length > 0) {
          lane.now = importedAt(history);
          await importLines(client, site, lines);
        } else if (sent?.kind === 'hit') {
          lane.now = sent.at;
          await mustBe(204, collect(client, site, sent));
        } else if (sent?.kind === 'identify') {
          lane.now = sent.at;
          await identify(client, site, key, sent);
        } else if (sent?.kind === 'server') {
          lane.now = sent.at + sent.lateMs;
          await mustBe(keys.has(sent.key) ? 200 : 202, client.events(key, serverBody(sent)));
          if (sent.key !== '') keys.add(sent.key);
        }
      }
      lane.now = history.base + HISTORY_MS;
    },
  };
}

/** The consecutive lines of access logs from this index on. They are sent as one file. */
function linesFrom({ sent }: History, from: number): readonly Hit[] {
  const lines: Hit[] = [];
  for (const one of sent.slice(from)) {
    if (one.kind !== 'hit' || !isLine(one)) break;
    lines.push(one);
  }
  return lines;
}

async function importLines(client: WeirClient, site: string, lines: readonly Hit[]): Promise<void> {
  const file_digest = createHash('sha256')
    .update(JSON.stringify([site, lines]))
    .digest('hex');
  const { lease } = (await client.must(200, 'POST', `/sites/${site}/imports`, { file_digest })) as { lease: string };
  const hits = lines.map(({ at, person: { network, agent }, path, link }, index) => ({
    line: index + 1,
    timestamp: at,
    ip: network.ip,
    user_agent: agent.text,
    url: `${SITE_URL}${path}${link.query}`,
    referrer: link.referrer,
  }));
  const chunk = { lease, first_line: 1, last_line: lines.length, hits };
  await client.must(200, 'POST', `/sites/${site}/imports/${file_digest}/chunks`, chunk);
  await client.must(200, 'POST', `/sites/${site}/imports/${file_digest}/release`, { lease });
}

function collect(client: WeirClient, site: string, { person, visit, name, path, link, properties, amount }: Hit) {
  const { mode, network, agent, language } = person;
  const body = {
    site_id: site,
    visitor_id: mode === 'cookieless' ? '' : visitorOf(person),
    session_id: mode === 'named' ? sessionOf(person, visit) : '',
    type: name === '' ? 'pageview' : 'event',
    url: `${SITE_URL}${path}${link.query}`,
    referrer: link.referrer,
    ...(language === '' ? {} : { language }),
    ...(name === '' ? {} : { event_name: name, event_properties: properties }),
    ...(name === '' || amount === '' ? {} : { event_value: amount }),
  };
  return client.collect(body, { 'user-agent': agent.text, 'x-forwarded-for': network.ip });
}

function serverBody(event: ServerEvent) {
  const { name, at, visitor, session, user, byBot, page, network, properties, amount, isNumber, key } = event;
  return {
    name,
    timestamp: at,
    visitor_id: visitor,
    session_id: session,
    user_id: user,
    idempotency_key: key,
    properties,
    ...(amount === '' ? {} : { value: isNumber ? Number(amount) : amount }),
    context: {
      ...(network === undefined ? {} : { ip: network.ip }),
      ...(byBot ? { user_agent: BOT.text } : {}),
      ...(page === '' ? {} : { url: `${SITE_URL}${page}` }),
    },
  };
}

function identify(client: WeirClient, site: string, key: string, { visitor, user, customer, byServer }: Identify) {
  const who = { user_id: user, ...(customer === '' ? {} : { payment_customer_id: customer }) };
  if (byServer) return mustBe(200, client.identify(key, { visitor_id: visitor, ...who }));
  return mustBe(
    204,
    client.collect({ site_id: site, visitor_id: visitor, session_id: '', type: 'identify', identity: who }),
  );
}

async function mustBe(status: number, answered: ReturnType<WeirClient['send']>): Promise<void> {
  const answer = await answered;
  if (answer.status !== status) throw new Error(`answered ${answer.status}, not ${status}: ${answer.text}`);
}
