import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openLmdbEventLog } from '@weir/adapters/lmdb-event-log';
import { openLogRegistry } from '@weir/adapters/log-registry';
import type { Json } from '@weir/domain/json';
import { encodeRawRecord } from '@weir/domain/raw-record';
import { createBatchOverlay } from '../src/batch-overlay.ts';
import type { Enrichment } from '../src/enrichment.ts';
import { openGeo } from '../src/geo/open-geo.ts';
import { createEnrichment } from '../src/pipeline.ts';
import { accessLogHits } from './access-log-traffic.ts';

/** CPU of enriching the access log's traffic, caches warm: `npx tsx services/enricher/test/enrich-speed.ts`. */
const NOW = Date.UTC(2026, 0, 1, 12);
const DOMAIN = 'semicomplete.com';
const BATCH = 2000;
const ROUNDS = 40;

const folder = mkdtempSync(join(tmpdir(), 'weir-enrich-speed-'));
const clock = (): number => NOW;
const eventLog = await openLmdbEventLog({ folder, partitions: 1, clock, retentionMs: () => 1e12 });
const registry = await openLogRegistry({ eventLog, clock, randomSalt: () => 'ab'.repeat(32) });
await registry.putSite({ siteId: 'demo', name: 'Demo', domain: DOMAIN, timezone: 'UTC', limits: {}, createdAt: NOW });
const geo = await openGeo({});
const enrichment = createEnrichment({ registry, geo, logId: eventLog.logId, clock });
const salts = new Map([['2026-01-01', 'ab'.repeat(32)]]);
const state = new Map<string, string>();

const hits = accessLogHits(DOMAIN);
const bodies: Readonly<Record<string, (i: number) => Readonly<Record<string, Json>>>> = {
  import: (i) => ({ visitor_id: '', session_id: '', timestamp: hits[i]?.timestamp ?? 0 }),
  'collect, cookieless': () => ({ visitor_id: '', session_id: '' }),
  'collect, snippet': (i) => ({
    visitor_id: `visitor-${i % 3000}`,
    session_id: `session-${i % 4000}`,
    screen_width: 1920,
  }),
};

for (const [name, body] of Object.entries(bodies)) {
  const records = hits.map((hit, i) => {
    const head = {
      eventId: `01975a00-0000-7000-8000-${String(i).padStart(12, '0')}`,
      kind: name === 'import' ? 'import' : 'collect',
      siteId: 'demo',
      receivedAt: NOW,
      ip: hit.ip,
      userAgent: hit.userAgent,
      acceptLanguage: name === 'import' ? '' : 'en-US,en;q=0.9',
    } as const;
    const page = { site_id: 'demo', type: 'pageview', url: hit.url, referrer: hit.referrer };
    return encodeRawRecord(head, JSON.stringify({ ...page, ...body(i) }));
  });
  enrichAll(enrichment, records);
  const rounds = Array.from({ length: ROUNDS }, () => enrichAll(enrichment, records)).sort((a, b) => a - b);
  const calibration = Array.from({ length: ROUNDS }, () => parseAndWrite(records)).sort((a, b) => a - b);
  const median = rounds[ROUNDS >> 1] ?? 0;
  const base = calibration[ROUNDS >> 1] ?? 0;
  console.log(
    `${name}: ${median.toFixed(2)} µs a record (min ${rounds[0]?.toFixed(2)}), ${Math.round(1e6 / median)} a second and core; ` +
      `JSON.parse and JSON.stringify of the same: ${base.toFixed(2)} µs, ratio ${(median / base).toFixed(2)}`,
  );
}

geo.close();
await registry.close();
await eventLog.close();
rmSync(folder, { recursive: true });

/** As the loop does it. CPU microseconds a record. */
function enrichAll<Draft>(of: Enrichment<Draft>, records: readonly Uint8Array[]): number {
  const cpu = process.cpuUsage();
  for (let from = 0; from < records.length; from += BATCH) {
    const batch = records.slice(from, from + BATCH);
    const drafts = batch.map((value, i) => of.read({ offset: from + i, value, appendedAt: NOW }, 0));
    const keys = [...new Set(drafts.flatMap((draft) => of.stateKeys(draft, salts)))];
    const overlay = createBatchOverlay(
      keys,
      keys.map((key) => state.get(key)),
    );
    for (const draft of drafts) of.finish(draft, { salts, state: overlay, heldBy: undefined });
    for (const { key, value } of overlay.changes()) if (value !== undefined) state.set(key, value);
  }
  const { user, system } = process.cpuUsage(cpu);
  return (user + system) / records.length;
}

function parseAndWrite(records: readonly Uint8Array[]): number {
  const cpu = process.cpuUsage();
  for (const record of records) Buffer.from(JSON.stringify(JSON.parse(Buffer.from(record).toString())));
  const { user, system } = process.cpuUsage(cpu);
  return (user + system) / records.length;
}
