import { isIP } from 'node:net';
import { messageOf } from '@weir/domain/errors';
import { normalizeIp } from '@weir/domain/net/ip-address';
import { ConfigError } from '@weir/runtime/config/config';
import type { Logger } from '@weir/runtime/logger';
import { createMetrics, type Metrics } from '@weir/runtime/prometheus-metrics';
import { openBundledGeo } from './bundled-geo.ts';
import { type GeoFiles, geoSignature, readGeoFiles } from './geo-files.ts';
import { type GeoLookup, NO_PLACE } from './geo-lookup.ts';
import { createGeoMetrics } from './geo-metrics.ts';
import { placeOf } from './mmdb-place.ts';
import { ChangedFileError } from './paged-mmdb.ts';

export interface GeoConfig {
  /** An MMDB file, or a folder of them (`GEOIP_DATABASE`). If undefined, the bundled data is used. */
  readonly database?: string | undefined;
  /** The folder of the bundled data. The default is the folder of the npm package. */
  readonly bundledFolder?: string | undefined;
  /**
   * Receives a message after a change of the files: `info` when the new data is in use, `warn` when the old data stays in use. The
   * same `warn` is not repeated.
   */
  readonly logger?: Pick<Logger, 'info' | 'warn'>;
  readonly metrics?: Metrics;
}

export interface Geo extends GeoLookup {
  /** Why the files on disk cannot be used while older data stays in use, or that bundled files have changed. Empty if the files are in use. */
  readonly problem: string;
  /** Checks now whether the files have changed. Resolves when the new data is in use or refused. Never rejects. */
  check(): Promise<void>;
  close(): void;
}

const CHECK_INTERVAL_MS = 30_000;

/**
 * Opens the geo data. Rejects if the data cannot be read at the start, for example because GEOIP_DATABASE is wrong. A bad file that
 * appears later does not replace the old data: each changed file is read and probed before it is used.
 */
export async function openGeo(config: GeoConfig): Promise<Geo> {
  const path = config.database;
  let seen = path === undefined ? '' : await geoSignature(path).catch(() => '');
  let files: GeoFiles = await (path === undefined ? openBundledGeo(config.bundledFolder) : readFirst(path));
  let problem = '';
  let refused = { signature: '', reason: '' };
  let generation = 0;
  let checking: Promise<void> | undefined;
  const metrics = createGeoMetrics(config.metrics ?? createMetrics(), {
    builtAt: () => files.builtAt,
    stale: () => problem !== '',
  });

  function refuse(reason: string): void {
    // A missing file fails at every check. Of failures with the same reason, only the first is logged and counted. The gauge
    // `weir_geo_stale` stays at 1 until the files can be used.
    if (reason === problem) return;
    problem = reason;
    metrics.reloaded('refused');
    config.logger?.warn({ version: files.version, reason }, 'new geo data cannot be read: the old data stays in use');
  }

  async function swapIfChanged(own: string): Promise<void> {
    let now = '';
    try {
      now = await geoSignature(own);
      if (now === seen) {
        problem = '';
        return;
      }
      if (now === refused.signature) {
        refuse(refused.reason);
        return;
      }
      const read = await readGeoFiles(own);
      // If the files have changed while they were read, the bytes can be a mix of old and new content that looks valid. The next check then
      // reads the files again.
      if ((await geoSignature(own)) !== now) return;
      [files, seen, problem] = [read, now, ''];
      generation += 1;
      metrics.reloaded('swapped');
      config.logger?.info({ version: files.version }, 'geo data reloaded');
    } catch (error) {
      const later = await geoSignature(own).catch(() => '');
      if (later !== now) return;
      const reason = messageOf(error);
      // An error of the operating system, such as too many open files, can be temporary: the next check reads the files again. After any other error,
      // the same bytes would be refused again, so they are not read again.
      if (!isSystemError(error)) refused = { signature: now, reason };
      refuse(reason);
    }
  }

  function check(): Promise<void> {
    if (path === undefined) return Promise.resolve();
    checking ??= swapIfChanged(path).finally(() => {
      checking = undefined;
    });
    return checking;
  }

  const timer = path === undefined ? undefined : setInterval(check, CHECK_INTERVAL_MS);
  timer?.unref();

  return {
    get version() {
      return files.version;
    },
    get generation() {
      return generation;
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
      } catch (error) {
        // The entry of this address is damaged. Only some addresses are looked up when a file is opened, so the damage was not found then.
        // The event is kept without a location.
        metrics.damaged();
        if (error instanceof ChangedFileError && problem === '') {
          problem = error.message;
          config.logger?.warn(
            { reason: problem },
            'geo data cannot be read: the location of some addresses is unknown',
          );
        }
        return NO_PLACE;
      }
    },
    check,
    close() {
      clearInterval(timer);
      files.close();
    },
  };
}

async function readFirst(path: string): Promise<GeoFiles> {
  try {
    return await readGeoFiles(path);
  } catch (error) {
    throw new ConfigError([`GEOIP_DATABASE: ${path} cannot be used: ${messageOf(error)}`], { cause: error });
  }
}

function isSystemError(error: unknown): boolean {
  return error instanceof Error && 'syscall' in error;
}
