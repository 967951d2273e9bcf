import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openLmdbEventLog } from '@weir/adapters/lmdb/lmdb-event-log';
import { openLmdbStateStore } from '@weir/adapters/lmdb/state/lmdb-state-store';
import { openLogRegistry } from '@weir/adapters/registry/log-registry';
import type { JsonObject } from '@weir/domain/json/json';
import type { RawRecord } from '@weir/domain/records/raw-record';
import { RECORDS_COLUMNS, type RecordsColumn } from '@weir/domain/records/records-columns';
import type { ExclusionType } from '@weir/domain/registry/site';
import type { Registry } from '@weir/ports/registry';
import type { FirstSeenKey } from '@weir/ports/state-store';
import { type Geo, openGeo } from '../../src/geo/open-geo.ts';
import { createBatchOverlay } from '../../src/pipeline/batch-overlay.ts';
import { distinct, readSalts } from '../../src/pipeline/enrich-batch.ts';
import { createEnrichment } from '../../src/pipeline/pipeline.ts';

export const NOW = Date.UTC(2026, 5, 15, 12);
export const SITE = 'demo';
export const CHROME =
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36';
export const IP = '81.2.69.142';

export type Line = Readonly<Record<RecordsColumn, unknown>>;
export type RawInput = Partial<Omit<RawRecord, 'body'>> & { readonly body: JsonObject };

export interface EnrichHarness {
  readonly registry: Registry;
  now: number;
  /** Enriches the records as one batch, with real state, salts and first-seen keys. Returns the text of each enriched record. */
  lines(values: readonly Uint8Array[]): Promise<readonly string[]>;
  enrich(...records: readonly RawInput[]): Promise<readonly Line[]>;
  exclude(type: ExclusionType, value: string): Promise<string>;
  close(): Promise<void>;
}

/** The enrichment on a real registry, state store and geo data, in a temporary folder. */
export async function openEnrichHarness(): Promise<EnrichHarness> {
  const folder = mkdtempSync(join(tmpdir(), 'weir-enrich-'));
  let now = NOW;
  let salts = 0;
  const clock = (): number => now;
  const eventLog = await openLmdbEventLog({
    folder: join(folder, 'log'),
    partitions: 1,
    clock,
    retentionMs: () => 1e12,
  });
  const stateStore = await openLmdbStateStore({ folder: join(folder, 'state'), clock });
  const registry = await openLogRegistry({ eventLog, clock, randomSalt: () => String(++salts).padStart(64, '0') });
  const geo: Geo = await openGeo({});
  const enrichment = createEnrichment({ registry, geo, logId: eventLog.logId });
  const foldPartition = { logId: eventLog.logId, partition: 0 };
  let offset = 0;
  let rules = 0;

  await registry.putSite({
    siteId: SITE,
    name: 'Demo',
    domain: 'example.com',
    timezone: 'UTC',
    limits: {},
    createdAt: NOW,
  });

  async function lines(values: readonly Uint8Array[]): Promise<readonly string[]> {
    const first = offset;
    offset += values.length;
    const decoded = values.map((value, i) => enrichment.decode({ offset: first + i, value, appendedAt: now }, 0));
    const daySalts = await readSalts(
      registry,
      distinct(decoded, (record) => enrichment.saltDays(record)),
    );
    const keys = [...distinct(decoded, (record) => enrichment.prepare(record, daySalts))];
    const { id: epoch } = await stateStore.readEpoch(foldPartition.logId, 1);
    const { appliedTo, values: read } = await stateStore.readState(epoch, foldPartition, keys);
    const state = createBatchOverlay(keys, read);
    const texts: string[] = [];
    for (const record of decoded) {
      const first = async (holder: FirstSeenKey | undefined) =>
        holder === undefined ? undefined : (await stateStore.insertFirstSeen(epoch, [holder], 24 * 3600_000))?.[0];
      const firstSeen = await first(enrichment.firstSeenKey(record));
      const firstRedrive = await first(enrichment.redriveKey(record));
      texts.push(Buffer.from(enrichment.enrich(record, { state, firstSeen, firstRedrive }).row).toString());
    }
    await stateStore.writeState(epoch, foldPartition, { from: appliedTo, to: offset }, state.changes());
    return texts;
  }

  const harness: EnrichHarness = {
    registry,
    get now() {
      return now;
    },
    set now(time) {
      now = time;
    },
    lines,
    async enrich(...records) {
      return (await lines(records.map(rawBytes))).map(parseLine);
    },
    async exclude(type, value) {
      rules += 1;
      await registry.putExclusion({ ruleId: `rule-${rules}`, siteId: SITE, type, value, createdAt: NOW });
      return `rule-${rules}`;
    },
    async close() {
      geo.close();
      await registry.close();
      await stateStore.close();
      await eventLog.close();
      rmSync(folder, { recursive: true });
    },
  };
  return harness;
}

let made = 0;

/**
 * The bytes of a raw record with the client IP in plain text. Older versions of Weir wrote such records. The defaults are those of a collect hit from
 * Chrome with an IP address in London.
 */
export function rawBytes({ body, ...head }: RawInput): Uint8Array {
  made += 1;
  const defaults = {
    eventId: `01975a00-0000-7000-8000-${String(made).padStart(12, '0')}`,
    kind: 'collect',
    siteId: SITE,
    receivedAt: NOW,
    ip: IP,
    userAgent: CHROME,
    acceptLanguage: '',
  } as const;
  // The record is built by hand, because Weir itself no longer writes addresses in plain text.
  return Buffer.from(JSON.stringify({ ...defaults, ...head, body }));
}

export function parseLine(text: string): Line {
  const values = JSON.parse(text) as unknown[];
  if (values.length !== RECORDS_COLUMNS.length || !text.endsWith(']\n'))
    throw new Error(`not a row of records: ${text}`);
  return Object.fromEntries(RECORDS_COLUMNS.map((column, i) => [column, values[i]])) as Line;
}

/** The body of a pageview, as the snippet sends it. */
export function pageview(fields: JsonObject = {}): JsonObject {
  return {
    site_id: SITE,
    visitor_id: 'v1',
    session_id: 's1',
    type: 'pageview',
    url: 'https://example.com/',
    ...fields,
  };
}
