import { randomBytes, randomFillSync } from 'node:crypto';
import type { BackupControl } from '@weir/control/backups/backup-control';
import { createControl } from '@weir/control/control';
import type { ConsumerStatus, Located } from '@weir/control/control-deps';
import type { ImportTerm } from '@weir/control/imports/import-term';
import type { Installation } from '@weir/control/pipeline/installation';
import { embeddedReportsAtOnce } from '@weir/control/reports/report-queue';
import { createEventIds } from '@weir/domain/ingest/event-id';
import { judgeBot } from '@weir/enricher/user-agent/judge-bot';
import { createFindClientIp } from '@weir/gateway/admission/find-client-ip';
import { createProxyMisconfigurationDetector } from '@weir/gateway/admission/proxy-misconfiguration-detector';
import { reportSingleNetworkSites } from '@weir/gateway/admission/proxy-misconfiguration-metric';
import { createGateway, createOperations, type Gateway } from '@weir/gateway/app';
import { createSnippetRoutes } from '@weir/gateway/http/snippet-routes';
import type { DiskSpace } from '@weir/ports/disk-space';
import type { ObjectStore } from '@weir/ports/object-store';
import { createAddressSealer } from '@weir/runtime/address-sealer';
import type { Config } from '@weir/runtime/config/config';
import type { Logger } from '@weir/runtime/logger';
import type { Metrics } from '@weir/runtime/prometheus-metrics';
import type { GatewayProcesses } from './gateways/gateway-processes.ts';
import { openApiDocument } from './openapi-document.ts';
import type { OpenAnalytics } from './ports/open-analytics.ts';
import type { Ports } from './ports/open-ports.ts';
import type { ProjectFiles } from './ports/project-files.ts';
import type { Role } from './roles.ts';
import type { Readiness } from './watch/readiness.ts';

export interface AppDeps {
  readonly roles: readonly Role[];
  readonly config: Config;
  readonly ports: Ports;
  readonly disk: DiskSpace | undefined;
  readonly store: OpenAnalytics | undefined;
  /** Undefined if Weir does not archive. */
  readonly archive: ObjectStore | undefined;
  /** Undefined if this process has no control role. */
  readonly adminToken: string | undefined;
  /** Aborts when this process begins to end. */
  readonly closing: AbortSignal;
  readonly files: ProjectFiles;
  readonly pipelineStatus: () => Promise<readonly ConsumerStatus[]>;
  /** Undefined if this process is the only gateway, or no gateway. */
  readonly gateways: GatewayProcesses | undefined;
  /** The text of /metrics, if another thread or process has metrics too. */
  readonly metricsText: (() => Promise<string>) | undefined;
  readonly replayProblem: () => Promise<string | undefined>;
  /** Resolves with undefined if another process accepts imports. */
  readonly importTerm: (signal: AbortSignal) => Promise<ImportTerm | undefined>;
  readonly logger: Logger;
  readonly clock: () => number;
  readonly metrics: Metrics;
  readonly readiness: Readiness;
  /** Looks up the location of an IP address. */
  readonly locate: (address: string) => Promise<Located>;
  readonly installation: Installation;
  /** Undefined if this process can make no backups. */
  readonly backups: BackupControl | undefined;
}

/** Creates the HTTP application of this process for its roles. */
export function createApp(deps: AppDeps): Gateway {
  const { roles, config, ports, store, adminToken, logger, clock, metrics, readiness, gateways } = deps;
  const proxyDetector = createProxyMisconfigurationDetector();
  const networks = gateways ?? proxyDetector;
  const addressSealer = createAddressSealer({ registry: ports.registry, randomBytes });
  const control =
    adminToken !== undefined && store !== undefined
      ? createControl({
          ...ports,
          analytics: store.analytics,
          shadow: store.shadow,
          detachedUntil: store.detachedUntil,
          archive: deps.archive,
          replayProblem: deps.replayProblem,
          importTerm: deps.importTerm,
          addressSealer,
          adminToken,
          publicUrl: config.publicUrl,
          closing: deps.closing,
          reportsAtOnce: config.engines.clickhouse === undefined ? embeddedReportsAtOnce() : undefined,
          dashboardDir: deps.files.dashboardDir,
          clock,
          randomBytes,
          logger,
          pipelineStatus: deps.pipelineStatus,
          findClientIp: createFindClientIp(config),
          proxies: config,
          retention: config,
          keep: config.keep,
          locate: deps.locate,
          judgeBot: (userAgent) => judgeBot(userAgent, undefined).name,
          installation: deps.installation,
          backups: deps.backups,
          singleNetworkSites: roles.includes('gateway') ? networks.singleNetworkSites : undefined,
        })
      : undefined;
  const shared = {
    logger,
    metrics,
    ...(deps.metricsText === undefined ? {} : { metricsText: deps.metricsText }),
    ready: () => readiness.missing(),
    notes: () => readiness.notes(),
    openApiDocument: openApiDocument(config.collectPaths),
  };
  const controlRouters = control === undefined ? [] : [control.router];
  if (gateways !== undefined) reportSingleNetworkSites(metrics, gateways, logger);
  if (gateways !== undefined || !roles.includes('gateway')) {
    return createOperations({ ...shared, routers: controlRouters });
  }
  return createGateway({
    ...shared,
    config,
    ...ports,
    disk: deps.disk,
    addressSealer,
    proxyDetector,
    routers: [createSnippetRoutes(deps.files.publicDir), ...controlRouters],
    clock,
    newEventId: createEventIds(clock, (bytes) => randomFillSync(bytes)),
  });
}
