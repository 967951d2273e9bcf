import { RECORDS_COLUMNS } from '@weir/domain/records/records-columns';
import { openClickhouseUnderTest } from '../../../../packages/adapters/test/clickhouse/clickhouse-harness.ts';
import { openEnrichHarness, type RawInput, rawBytes } from '../pipeline/enrich-harness.ts';

export interface SessionsHarness {
  /**
   * Enriches the records in this order, in batches of `batchRecords`. Inserts each batch twice, like a writer that repeats an
   * insert.
   */
  take(records: readonly RawInput[], batchRecords: number): Promise<void>;
  query(sql: string, params?: Readonly<Record<string, string>>): Promise<readonly Readonly<Record<string, unknown>>[]>;
  close(): Promise<void>;
}

/** Runs the real steps with a real state store, and inserts into the real tables. */
export async function openSessionsHarness(): Promise<SessionsHarness> {
  const [enricher, opened] = await Promise.all([openEnrichHarness(), openClickhouseUnderTest()]);
  await opened.analytics.migrate();
  let inserted = 0;
  return {
    async take(records, batchRecords) {
      for (let at = 0; at < records.length; at += batchRecords) {
        const lines = await enricher.lines(records.slice(at, at + batchRecords).map(rawBytes));
        const token = `records:log:0:${inserted}-${inserted + lines.length - 1}:1`;
        inserted += lines.length;
        const batch = {
          columns: RECORDS_COLUMNS,
          lines: lines.map((line) => Buffer.from(line)),
          token,
          generation: undefined,
        };
        await opened.analytics.insertRecords(batch);
        await opened.analytics.insertRecords(batch);
      }
    },
    async query(sql, params = {}) {
      return (await opened.analytics.userQuery(sql, params)).rows;
    },
    async close() {
      await enricher.close();
      await opened.close();
    },
  };
}
