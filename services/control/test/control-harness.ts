import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openClickhouseAnalytics } from '@weir/adapters/clickhouse/clickhouse-analytics';
import { openClickhouseShadow } from '@weir/adapters/clickhouse/clickhouse-shadow';
import { openLmdbEventLog } from '@weir/adapters/lmdb/lmdb-event-log';
import { openLmdbStateStore } from '@weir/adapters/lmdb/state/lmdb-state-store';
import { createMemoryRateLimiter } from '@weir/adapters/redis/memory-rate-limiter';
import { openLogRegistry } from '@weir/adapters/registry/log-registry';
import { createControl } from '@weir/control/control';
import type { ControlDeps } from '@weir/control/control-deps';
import { startErasures } from '@weir/control/erasure/start-erasures';
import { SOLE_TERM } from '@weir/control/imports/import-term';
import type { LeaderDeps } from '@weir/control/replay/replay-leader';
import { startReplayer } from '@weir/control/replay/replayer';
import { startRetention } from '@weir/control/retention/start-retention';
import { GROUP_ENRICHER, GROUP_WRITER, TOPIC_ENRICHED, TOPIC_RAW } from '@weir/domain/records/topics';
import { KEEP_FOREVER } from '@weir/domain/registry/keep';
import { startEmbeddedClickhouse } from '@weir/embedded-clickhouse/start-embedded-clickhouse';
import { loadSourceLists } from '@weir/enricher/acquisition/source-lists';
import { startEnricher } from '@weir/enricher/enricher';
import { openGeo } from '@weir/enricher/geo/open-geo';
import { createEnrichment } from '@weir/enricher/pipeline/pipeline';
import { startReplayEnricher } from '@weir/enricher/replay/start-replay-enricher';
import { judgeBot } from '@weir/enricher/user-agent/judge-bot';
import { createFindClientIp } from '@weir/gateway/admission/find-client-ip';
import { createProxyMisconfigurationDetector } from '@weir/gateway/admission/proxy-misconfiguration-detector';
import type { Analytics } from '@weir/ports/analytics';
import type { EventLog } from '@weir/ports/event-log';
import type { ObjectStore } from '@weir/ports/object-store';
import { createAddressSealer } from '@weir/runtime/address-sealer';
import { createLogger } from '@weir/runtime/logger';
import { createErasureMetrics, createRetentionMetrics } from '@weir/runtime/metrics/control-metrics';
import { createMetrics } from '@weir/runtime/prometheus-metrics';
import { holdsPause, nextSwap, pauseWriters, resumeWriters } from '@weir/writer/pause/pause-writers';
import { startWriter } from '@weir/writer/writer';
import express from 'express';
import { ADMIN_TOKEN, createCall, newSite } from './create-call.ts';
import { createFailingPlaces } from './failing-places.ts';

const SCHEMAS = join(__dirname, '../../../schemas/clickhouse');
const CLICKHOUSE = join(__dirname, '../../../packages/embedded-clickhouse/src/clickhouse-server.ts');

const PROXIES = { trustedProxies: ['127.0.0.1'], clientIpHeader: undefined };

export { ADMIN_TOKEN, type Reply } from './create-call.ts';

export type ControlHarness = Awaited<ReturnType<typeof openControlHarness>>;

export interface ReplayedFrom {
  readonly archive?: ObjectStore;
  /** The retention of `events.enriched` that a replay assumes. */
  readonly replayRetentionMs?: number;
  /** The folder with the migrations. Default: that of Weir. */
  readonly migrationsDir?: string;
  /** Changes the dependencies of the leader of a replay (the process that carries it out). */
  readonly leading?: (deps: LeaderDeps) => LeaderDeps;
}

/** Runs control with a real HTTP server, and the pipeline behind the gateway: LMDB, enricher, writer, embedded ClickHouse. */
export async function openControlHarness(
  decorate: (log: EventLog) => EventLog = (log) => log,
  decorateAnalytics: (analytics: Analytics) => Analytics = (analytics) => analytics,
  {
    archive,
    replayRetentionMs = 30 * 24 * 3_600_000,
    migrationsDir = SCHEMAS,
    leading = (deps) => deps,
  }: ReplayedFrom = {},
) {
  const folder = await mkdtemp(join(tmpdir(), 'weir-control-'));
  let aheadMs = 0;
  const closing = new AbortController();
  let adminToken = ADMIN_TOKEN;
  const clock = () => Date.now() + aheadMs;
  const logger = createLogger('error');
  const metrics = createMetrics();
  const engine = await startEmbeddedClickhouse({ dataDir: folder, entry: CLICKHOUSE, logger });
  await engine.ready();
  const { url: clickhouseUrl, username, password } = engine;
  const tables = { url: clickhouseUrl, username, password, migrationsDir };
  const analytics = openClickhouseAnalytics(tables);
  const shadow = openClickhouseShadow(tables, analytics);
  await analytics.migrate();
  const eventLog = await openLmdbEventLog({
    folder: join(folder, 'log'),
    partitions: 4,
    clock,
    retentionMs: () => 72 * 3_600_000,
  });
  const stateStore = await openLmdbStateStore({ folder: join(folder, 'state'), clock });
  const randomSalt = () => randomBytes(32).toString('hex');
  const registry = await openLogRegistry({ eventLog, clock, randomSalt });
  const geo = await openGeo({});
  const places = createFailingPlaces(geo);
  const enrichment = createEnrichment({ registry, geo: places.geo, logId: eventLog.logId });
  const enricher = await startEnricher({ eventLog, stateStore, registry, enrichment, clock, logger, metrics });
  const limits = { rowsMax: 20_000, bytesMax: 16 * 1024 * 1024, lingerMs: 50 };
  const writer = await startWriter({ eventLog, analytics, clock, logger, metrics, limits, pauses: registry });

  const pausing = { eventLog, registry, clock, owner: 'swap' } as const;
  const replayState = join(folder, 'replay-state');
  let replayLists = loadSourceLists();
  const lead = () =>
    startReplayer(
      leading({
        ...{ eventLog, registry, analytics, shadow, clock, logger, archive },
        retentionMs: replayRetentionMs,
        liveWriters: {
          nextSwap: () => nextSwap(pausing),
          pause: (swap, signal) => pauseWriters(pausing, swap, { signal }),
          holds: (swap) => holdsPause(pausing, swap),
          resume: (swap) => resumeWriters(pausing, swap),
        },
        startReplayWriter: ({ eventLog: log, analytics: target, ...replay }) =>
          startWriter({ eventLog: log, analytics: target, clock, logger, metrics, replay, limits, pauses: undefined }),
        raw: {
          retentionMs: 72 * 3_600_000,
          removeState: () => rm(replayState, { recursive: true, force: true }),
          async startEnricher({ eventLog: log, firstRawOffset }) {
            const store = await openLmdbStateStore({ folder: replayState, clock });
            const started = await startReplayEnricher({
              ...{ eventLog: log, answeredIn: eventLog, stateStore: store, registry, analytics, firstRawOffset },
              enrichment: createEnrichment({ registry, geo, logId: eventLog.logId, lists: replayLists }),
              ...{ clock, logger, metrics },
            });
            return {
              ...started,
              async close() {
                await started.close();
                await store.close();
              },
            };
          },
        },
      }),
    );
  let replayer = lead();
  const topics = { rawRetentionMs: 72 * 3_600_000, enrichedRetentionMs: 30 * 24 * 3_600_000 };

  const rateLimiter = createMemoryRateLimiter({ clock });
  const makeControl = (importTerm: ControlDeps['importTerm'] = async () => SOLE_TERM) =>
    createControl({
      registry,
      eventLog: decorate(eventLog),
      analytics: decorateAnalytics(analytics),
      shadow,
      detachedUntil: engine.detachedUntil,
      archive,
      replayProblem: async () => replayer.problem(),
      importTerm,
      addressSealer: createAddressSealer({ registry, randomBytes }),
      adminToken,
      closing: closing.signal,
      rateLimiter,
      dashboardDir: join(folder, 'dashboard'),
      clock,
      randomBytes,
      logger,
      pipelineStatus: async () => [
        { topic: TOPIC_RAW, consumer: GROUP_ENRICHER, partitions: enricher.status() },
        { topic: TOPIC_ENRICHED, consumer: GROUP_WRITER, partitions: writer.status() },
      ],
      findClientIp: createFindClientIp(PROXIES),
      proxies: PROXIES,
      retention: { ...topics, enrichedRetentionMs: replayRetentionMs },
      keep: KEEP_FOREVER,
      locate: async (ip) => ({ place: geo.lookup(ip), data: geo.version, problem: geo.problem }),
      judgeBot: (userAgent) => judgeBot(userAgent, undefined).name,
      installation: { disks: async () => [], engines: () => [], parquetProblem: () => undefined },
      backups: undefined,
      singleNetworkSites: proxyDetector.singleNetworkSites,
    });
  const work = {
    registry,
    eventLog,
    analytics,
    stateStore,
    archive,
    clock,
    logger,
    ready: Promise.resolve(),
    alone: true,
    workerId: 'harness',
    detachedUntil: engine.detachedUntil,
  };
  const own = { topics, metrics: createErasureMetrics(metrics) };
  let erasures = startErasures({ ...work, ...own });
  const retentionMetrics = createRetentionMetrics(metrics, 0);
  const removeExpired = () =>
    startRetention({ ...work, metrics: retentionMetrics, keep: KEEP_FOREVER, lookEveryMs: 100 });
  let retention = removeExpired();
  const proxyDetector = createProxyMisconfigurationDetector();
  let control = makeControl();
  const app = express();
  app.use((request, response, next) => control.router(request, response, next));
  const server = createServer(app);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  const call = createCall(url);

  return {
    url,
    folder,
    eventLog,
    analytics,
    stateStore,
    shadow,
    registry,
    proxyDetector,
    call,
    newSite: () => newSite(call),
    clock,
    /** Moves the clock of all roles forward. The clock of ClickHouse does not change. */
    advance(ms: number) {
      aheadMs += ms;
    },
    /** Opens the tables of another database in the same ClickHouse, for example the shadow tables (docs/glossary.md). */
    openTables: (database: string) =>
      openClickhouseAnalytics({ url: clickhouseUrl, username, password, database, migrationsDir }),
    /** Runs a statement of any kind in ClickHouse. */
    async command(statement: string): Promise<void> {
      const response = await fetch(clickhouseUrl, {
        method: 'POST',
        headers: { 'x-clickhouse-user': username, 'x-clickhouse-key': password },
        body: statement,
      });
      if (!response.ok) throw new Error(await response.text());
    },
    /** The process ID of the embedded ClickHouse. */
    clickhousePid: () => engine.pid() ?? 0,
    /** Starts a second control on the same log, registry and tables, as in another process. Close it before the harness. */
    async openControl(importTerm: ControlDeps['importTerm']) {
      const { router } = makeControl(importTerm);
      const second = createServer(express().use(router));
      await new Promise<void>((resolve) => second.listen(0, '127.0.0.1', resolve));
      return {
        call: createCall(`http://127.0.0.1:${(second.address() as AddressInfo).port}`),
        close: () => new Promise((resolve) => second.close(resolve)),
      };
    },
    /** Deletes everything that control keeps in memory, as a kill of the process does. */
    forgetControl() {
      control = makeControl();
    },
    /** Switches failures of the location lookup on or off. While it fails, each record with a new address becomes a dead letter. */
    failPlaces: places.fail,
    /** Starts control again with another admin token. */
    setAdminToken(token: string) {
      adminToken = token;
      control = makeControl();
    },
    /** Sets the lists of sources for the enricher of a replay from raw. They apply when this enricher starts the next time. */
    setReplayLists(lists: ReturnType<typeof loadSourceLists>) {
      replayLists = lists;
    },
    /** Removes the state of a replay while its leader does not run, as after a loss of the state. */
    async removeReplayState() {
      await replayer.close();
      await rm(replayState, { recursive: true, force: true });
      replayer = lead();
    },
    /** Deletes everything that the leader of a replay keeps in memory, as a kill of the process does. */
    async restartReplayer() {
      await replayer.close();
      replayer = lead();
    },
    /** Starts the removal of expired rows again, so that it has nothing in memory. */
    async restartRetention() {
      await retention.close();
      retention = removeExpired();
    },
    async restartErasures(store: ObjectStore | undefined, meanwhile = async (): Promise<void> => undefined) {
      await erasures.close();
      await meanwhile();
      erasures = startErasures({ ...work, ...own, archive: store });
    },
    async close() {
      closing.abort();
      await new Promise((resolve) => server.close(resolve));
      await erasures.close();
      await retention.close();
      await replayer.close();
      await enricher.close();
      await writer.close();
      await geo.close();
      await registry.close();
      await stateStore.close();
      await eventLog.close();
      await shadow.close();
      await analytics.close();
      await engine.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
