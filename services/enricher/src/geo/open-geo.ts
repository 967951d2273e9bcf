import { isIP } from 'node:net';
import { normalizeIp } from '@weir/domain/net/ip-address';
import { ConfigError } from '@weir/runtime/config/config';
import type { Logger } from '@weir/runtime/logger';
import { createMetrics, type Metrics } from '@weir/runtime/prometheus-metrics';
import { readBundledGeo } from './bundled-geo.ts';
import { type GeoFiles, geoSignature, readGeoFiles } from './geo-files.ts';
import { type GeoLookup, NO_PLACE } from './geo-lookup.ts';
import { createGeoMetrics } from './geo-metrics.ts';
import { placeOf } from './mmdb-place.ts';

export interface GeoConfig {
  /** An MMDB file or a folder of them (`GEOIP_DATABASE`); undefined: the bundled data. */
  readonly database?: string | undefined;
  /** Told what becomes of each change of the files: `info` when it is in force, `warn` when the old data answers on. */
  readonly logger?: Pick<Logger, 'info' | 'warn'>;
  readonly metrics?: Metrics;
  /** How often a change of the files is looked for; default 30 s. */
  readonly checkIntervalMs?: number;
}

export interface Geo extends GeoLookup {
  /** Why the files on disk can't be used, while older data answers on; empty: they are in use. */
  readonly problem: string;
  /** Looks for a change now. Resolves when it is in force, or refused. Never rejects. */
  check(): Promise<void>;
  close(): void;
}

const CHECK_INTERVAL_MS = 30_000;

/**
 * Opens the geo data. Rejects where it can't be read: at the start that is a wrong setting. Later a bad file leaves the old data
 * in place: each change is read, probed, and only then swapped in.
 */
export async function openGeo(config: GeoConfig): Promise<Geo> {
  const path = config.database;
  let seen = path === undefined ? '' : await geoSignature(path).catch(() => '');
  let files: GeoFiles = await (path === undefined ? readBundledGeo() : readFirst(path));
  let problem = '';
  let refused = '';
  let checking: Promise<void> | undefined;
  const metrics = createGeoMetrics(config.metrics ?? createMetrics(), {
    builtAt: () => files.builtAt,
    stale: () => problem !== '',
  });

  function refuse(reason: string): void {
    // A file that is missing is found missing every time; one alarm for each problem is enough, the gauge stays up.
    if (reason === problem) return;
    problem = reason;
    metrics.reloaded('refused');
    config.logger?.warn({ version: files.version, reason }, 'geo data not readable: the old data answers on');
  }

  async function swapIfChanged(own: string): Promise<void> {
    let now = '';
    try {
      now = await geoSignature(own);
      if (now === seen) problem = '';
      if (now === seen || now === refused) return;
      const read = await readGeoFiles(own);
      // Half of the old file and half of the new one may pass for a file: what was written to while it was read waits.
      if ((await geoSignature(own)) !== now) return;
      [files, seen, problem] = [read, now, ''];
      metrics.reloaded('swapped');
      config.logger?.info({ version: files.version }, 'geo data reloaded');
    } catch (error) {
      const later = await geoSignature(own).catch(() => '');
      if (later !== now) return;
      refused = now;
      refuse(messageOf(error));
    }
  }

  function check(): Promise<void> {
    if (path === undefined) return Promise.resolve();
    checking ??= swapIfChanged(path).finally(() => {
      checking = undefined;
    });
    return checking;
  }

  const timer = path === undefined ? undefined : setInterval(check, config.checkIntervalMs ?? CHECK_INTERVAL_MS);
  timer?.unref();

  return {
    get version() {
      return files.version;
    },
    get problem() {
      return problem;
    },
    lookup(ip) {
      const address = normalizeIp(ip);
      const family = isIP(address);
      if (family !== 4 && family !== 6) return NO_PLACE;
      try {
        return placeOf(files.get(address, family));
      } catch {
        // Damage that no probe met, at this address alone. The event is worth more than its place.
        metrics.damaged();
        return NO_PLACE;
      }
    },
    check,
    close: () => clearInterval(timer),
  };
}

async function readFirst(path: string): Promise<GeoFiles> {
  try {
    return await readGeoFiles(path);
  } catch (error) {
    throw new ConfigError([`GEOIP_DATABASE: ${path} can't be used: ${messageOf(error)}`], { cause: error });
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
