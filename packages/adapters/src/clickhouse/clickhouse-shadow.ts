import { ClickHouseLogLevel, createClient } from '@clickhouse/client';
import { RECORDS_COLUMNS } from '@weir/domain/records/records-columns';
import { type ShadowTables, shadowDatabase } from '@weir/ports/shadow-tables';
import {
  type ClickhouseAnalytics,
  type ClickhouseAnalyticsConfig,
  clickhouseInsertSettings,
  openClickhouseAnalytics,
  REQUEST_TIMEOUT_MS,
} from './clickhouse-analytics.ts';
import { statementError } from './clickhouse-errors.ts';
import { missingRebuilds } from './clickhouse-migrate.ts';
import { clusterClause } from './clickhouse-on-cluster.ts';

export interface ClickhouseShadow extends ShadowTables {
  close(): Promise<void>;
}

/** The shadow tables (docs/glossary.md) of the configured database. Connects on first use. */
export function openClickhouseShadow(
  config: ClickhouseAnalyticsConfig,
  liveTables: Pick<ClickhouseAnalytics, 'exchangeWith' | 'selectTokens'>,
): ClickhouseShadow {
  const { url, username, password, cluster, database: live = 'weir' } = config;
  const shadow = shadowDatabase(live);
  const analytics = openClickhouseAnalytics({ ...config, database: shadow });
  // This client has no default database, because the shadow database may not exist yet.
  const client = createClient({
    url,
    username,
    password,
    // One call of `copy` must not copy more rows than ClickHouse can copy within this time.
    request_timeout: REQUEST_TIMEOUT_MS,
    log: { level: ClickHouseLogLevel.OFF },
  });
  const columns = RECORDS_COLUMNS.join(', ');

  return {
    live,
    shadow,
    analytics,
    missingRebuilds: () => missingRebuilds(config, live),
    create: () => analytics.migrate(),

    async copy({ condition, params, token }) {
      try {
        await client.command({
          query: `INSERT INTO ${shadow}.records (${columns}) SELECT ${columns} FROM ${live}.records WHERE ${condition} ORDER BY raw_offset`,
          query_params: { ...params },
          clickhouse_settings: {
            ...clickhouseInsertSettings(cluster),
            ...(await liveTables.selectTokens()),
            insert_deduplication_token: token,
            // With one thread and ORDER BY, a repeated copy inserts the same rows in the same block. This is necessary for deduplication by token.
            max_threads: 1,
          },
        });
      } catch (error) {
        throw statementError(error);
      }
    },

    exchange: (generation) => liveTables.exchangeWith(shadow, generation),

    async drop() {
      try {
        await client.command({
          query: `DROP DATABASE IF EXISTS ${shadow}${clusterClause(cluster)} SYNC`,
          clickhouse_settings: { max_table_size_to_drop: '0', max_partition_size_to_drop: '0' },
        });
      } catch (error) {
        throw statementError(error);
      }
    },

    async close() {
      await Promise.all([client.close(), analytics.close()]);
    },
  };
}
