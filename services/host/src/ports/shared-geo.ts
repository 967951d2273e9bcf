import type { Located } from '@weir/control/control-deps';
import { messageOf } from '@weir/domain/errors';
import { type Geo, openGeo } from '@weir/enricher/geo/open-geo';
import type { Config } from '@weir/runtime/config/config';
import type { Logger } from '@weir/runtime/logger';
import type { Metrics } from '@weir/runtime/prometheus-metrics';
import type { Stack } from '../stack.ts';

/**
 * Returns the geo data of this process. The first call opens it, and later calls share it. If a call fails, it rejects, and the
 * next call tries again.
 */
export type SharedGeo = () => Promise<Geo>;

export interface SharedGeoDeps {
  readonly config: Pick<Config, 'geoipDatabase'>;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly stack: Stack;
}

export function createSharedGeo({ config, logger, metrics, stack }: SharedGeoDeps): SharedGeo {
  let opening: Promise<Geo> | undefined;
  const open = async (): Promise<Geo> => stack.add(await openGeo({ database: config.geoipDatabase, logger, metrics }));
  return () => {
    opening ??= open().catch((error: unknown) => {
      opening = undefined;
      throw error;
    });
    return opening;
  };
}

/** Returns a function that looks up the location of an address. If the geo data cannot be read, the result contains the reason. */
export function locateWith(geo: SharedGeo): (address: string) => Promise<Located> {
  return async (address) => {
    try {
      const opened = await geo();
      return { place: opened.lookup(address), data: opened.version, problem: opened.problem };
    } catch (error) {
      return { place: undefined, data: '', problem: messageOf(error) };
    }
  };
}
