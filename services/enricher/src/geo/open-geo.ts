import { isIP } from 'node:net';
import { normalizeIp } from '@weir/domain/ip-address';
import type { Logger } from '@weir/runtime/logger';
import { readBundledGeo } from './bundled-geo.ts';
import { type GeoFiles, geoSignature, readGeoFiles } from './geo-files.ts';
import { type GeoLookup, NO_PLACE } from './geo-lookup.ts';
import { placeOf } from './mmdb-place.ts';

export interface GeoConfig {
  /** An MMDB file or a folder of them (`GEOIP_DATABASE`); undefined: the bundled data. */
  readonly database?: string | undefined;
  /** Told what becomes of each change of the files: `info` when it is in force, `warn` when the old data answers on. */
  readonly logger?: Pick<Logger, 'info' | 'warn'>;
  /** How often a change of the files is looked for; default 30 s. */
  readonly checkIntervalMs?: number;
}

export interface Geo extends GeoLookup {
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
  let checking: Promise<void> | undefined;

  async function swapIfChanged(own: string): Promise<void> {
    try {
      const now = await geoSignature(own);
      if (now === seen) return;
      seen = now;
      files = await readGeoFiles(own);
      config.logger?.info({ version: files.version }, 'geo data reloaded');
    } catch (error) {
      config.logger?.warn(
        { version: files.version, reason: messageOf(error) },
        'geo data not readable: the old data answers on',
      );
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
    lookup(ip) {
      const address = normalizeIp(ip);
      const family = isIP(address);
      return family === 4 || family === 6 ? placeOf(files.get(address, family)) : NO_PLACE;
    },
    check,
    close: () => clearInterval(timer),
  };
}

async function readFirst(path: string): Promise<GeoFiles> {
  try {
    return await readGeoFiles(path);
  } catch (error) {
    throw new Error(`GEOIP_DATABASE: ${path} can't be used: ${messageOf(error)}`, { cause: error });
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
