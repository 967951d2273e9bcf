import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openLmdbEventLog } from '@weir/adapters/lmdb/lmdb-event-log';
import { RECORDS_COLUMNS_VERSION } from '@weir/domain/records/records-columns';
import { TABLE_REGISTRY, TABLE_SALTS, TOPIC_ENRICHED, TOPIC_RAW } from '@weir/domain/records/topics';
import { startEmbeddedClickhouse } from '@weir/embedded-clickhouse/start-embedded-clickhouse';
import type { EventLog } from '@weir/ports/event-log';
import { decodeEnriched, decodeRaw } from '@weir/records';
import { ENRICHED_COLUMNS } from '@weir/records/enriched-columns';
import { createLogger } from '@weir/runtime/logger';
import { PROJECT_ROOT, startWeir, type WeirProcess } from '@weir/testkit/weir-process';
import Ajv2020 from 'ajv/dist/2020.js';
import { type PlacedRecord, readAll, rowsOf, text } from './placed-record.ts';
import { CLIENT_ADDRESS, sendSomeTraffic } from './some-traffic.ts';

/** The tests compare four things with the records of a running Weir: this page, schemas/topics, @weir/records, and the examples. */
const PAGE = readFileSync('docs/topics.md', 'utf8');
const VERSION = String(RECORDS_COLUMNS_VERSION);
const SCHEMAS = join(PROJECT_ROOT, 'schemas/topics');
const codes = (language: string): string[] =>
  [...PAGE.matchAll(new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``, 'g'))].map(([, code]) => code ?? '');

const ajv = new Ajv2020({
  strict: true,
  strictTypes: false,
  strictTuples: false,
  strictRequired: false,
  validateFormats: false,
});
function problems(topic: string, value: unknown): unknown {
  const schema = JSON.parse(readFileSync(join(SCHEMAS, `${topic}.schema.json`), 'utf8')) as object & { $id: string };
  const validate = ajv.getSchema(schema.$id) ?? ajv.compile(schema);
  return validate(value) ? [] : validate.errors;
}

let weir: WeirProcess;
let siteId: string;
let stored: Readonly<Record<string, readonly PlacedRecord[]>>;
let tables: Readonly<Record<string, readonly (readonly [string, string])[]>>;

beforeAll(async () => {
  weir = await startWeir();
  siteId = await sendSomeTraffic(weir);
  // Appends a repeated record and damaged bytes directly to the log. With one gateway, no request can cause these.
  await withLog(async (log) => {
    const keyed = (await readAll(log, TOPIC_RAW)).find((record) => text(record).includes('order-2'));
    await log.append(TOPIC_RAW, [
      { partition: keyed!.partition, value: keyed!.value },
      { partition: 0, value: Buffer.from('damaged') },
    ]);
  });
  await weir.client.settled();
  await withLog(async (log) => {
    stored = { [TOPIC_RAW]: await readAll(log, TOPIC_RAW), [TOPIC_ENRICHED]: await readAll(log, TOPIC_ENRICHED) };
    tables = { [TABLE_REGISTRY]: await rowsOf(log, TABLE_REGISTRY), [TABLE_SALTS]: await rowsOf(log, TABLE_SALTS) };
  });
}, 180_000);
afterAll(() => weir.stop());

/** Stops Weir, opens its log, calls `work`, and starts Weir again. */
async function withLog(work: (log: EventLog) => Promise<void>): Promise<void> {
  await weir.terminate();
  const folder = join(weir.dataDir, 'log');
  const log = await openLmdbEventLog({ folder, partitions: 1, clock: Date.now, retentionMs: () => 3.6e9 });
  await work(log);
  await log.close();
  await weir.restart();
}

describe('records', () => {
  test('events.raw: each kind follows its schema, and is decoded without an address', () => {
    const records = (stored[TOPIC_RAW] ?? []).filter((record) => text(record) !== 'damaged');
    expect(new Set(records.map((record) => decodeRaw(record.value).kind))).toEqual(
      new Set(['collect', 'event', 'identify', 'import', 'unlink']),
    );
    for (const record of records) {
      const sent = JSON.parse(text(record));
      expect(problems(TOPIC_RAW, sent)).toEqual([]);
      const { sealedIp: _, body, ...envelope } = sent;
      expect(decodeRaw(record.value)).toMatchObject(envelope);
      expect(record.headers).toEqual({});
      expect(JSON.stringify(decodeRaw(record.value))).not.toMatch(/sealedIp|203\.0\.113/);
      expect(Object.keys(decodeRaw(record.value).body)).toEqual(Object.keys(body));
    }
    expect(records.map(text).join()).not.toContain(CLIENT_ADDRESS);
  });

  test('events.enriched: each outcome follows its schema and is decoded', () => {
    const records = stored[TOPIC_ENRICHED] ?? [];
    const events = records.map((record) => decodeEnriched(record.headers, record.value));
    expect(new Set(events.map(({ outcome }) => outcome))).toEqual(
      new Set(['row', 'identify', 'duplicate', 'dropped', 'dead']),
    );
    for (const [i, record] of records.entries()) {
      const event = events[i]!;
      expect(problems(TOPIC_ENRICHED, JSON.parse(text(record)))).toEqual([]);
      expect(record.headers).toEqual({ v: VERSION, o: String(event.raw_offset), r: String(event.received_at) });
      expect(text(record).endsWith(']\n')).toBe(true);
    }
    expect(events.find(({ event_name: name }) => name === 'purchase')).toMatchObject({
      site_id: siteId,
      value: 12.5,
      value_text: '12.50',
      idempotency_key: 'order-1',
    });
  });

  test('registry and salts: each row follows its schema', () => {
    const kinds = new Set<string>();
    for (const [topic, rows] of Object.entries(tables)) {
      expect(rows.length).toBeGreaterThan(0);
      for (const [key, value] of rows) {
        expect(problems(topic, { key, value: JSON.parse(value) })).toEqual([]);
        kinds.add(key.split('/')[0] ?? '');
      }
    }
    // The gateway stores the last use of a key some time after the request, so this kind may be missing.
    kinds.delete('use');
    expect(kinds).toEqual(new Set(['site', 'key', 'exclusion', 'import', 'salt']));
  });

  test('a schema refuses what is not a record', () => {
    expect(problems(TOPIC_RAW, {})).not.toEqual([]);
    expect(problems(TOPIC_ENRICHED, ['row'])).not.toEqual([]);
    expect(problems(TABLE_REGISTRY, { key: 'site/a', value: {} })).not.toEqual([]);
    expect(problems(TABLE_SALTS, { key: 'salt/x', value: {} })).not.toEqual([]);
  });
});

describe('docs/topics.md', () => {
  test('has a schema and a section for each topic', () => {
    const topics = [TOPIC_ENRICHED, TOPIC_RAW, TABLE_REGISTRY, TABLE_SALTS];
    expect(readdirSync(SCHEMAS).toSorted()).toEqual(topics.map((topic) => `${topic}.schema.json`).toSorted());
    for (const topic of topics) expect(PAGE).toContain(`\n## ${topic}\n`);
  });

  test('its examples follow the schemas', () => {
    const [enriched, raw, registry] = codes('json').map((code) => JSON.parse(code) as unknown);
    expect([problems(TOPIC_ENRICHED, enriched), problems(TOPIC_RAW, raw), problems(TABLE_REGISTRY, registry)]).toEqual([
      [],
      [],
      [],
    ]);
  });
});

describe('ClickHouse', () => {
  const [queue = '', target = '', view = ''] = codes('sql');
  let folder: string;
  let engine: Awaited<ReturnType<typeof startEmbeddedClickhouse>>;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'weir-topics-'));
    const entry = join(PROJECT_ROOT, 'dist/clickhouse-server.js');
    engine = await startEmbeddedClickhouse({ dataDir: folder, entry, logger: createLogger('error') });
    await engine.ready();
  });
  afterAll(async () => {
    await engine?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  async function run(statement: string, data = ''): Promise<string> {
    const headers = { 'X-ClickHouse-User': engine.username, 'X-ClickHouse-Key': engine.password };
    const query = encodeURIComponent(statement);
    const response = await fetch(`${engine.url}/?query=${query}`, { method: 'POST', headers, body: data });
    const answer = await response.text();
    if (!response.ok) throw new Error(answer);
    return answer;
  }

  test('the statement for the Kafka engine is valid (the embedded ClickHouse cannot run it)', async () => {
    expect(queue).toMatch(/^CREATE TABLE enriched_queue \(line String\)\nENGINE = Kafka/);
    expect(await run(`EXPLAIN AST ${queue}`)).toContain('CreateQuery enriched_queue');
  });

  test('the table and the view have the columns of each row once, and no other outcomes and versions', async () => {
    // This table replaces a Kafka table. It has only the columns that the view needs.
    await run(
      'CREATE TABLE enriched_queue (line String, `_headers.name` Array(String), `_headers.value` Array(String)) ENGINE = Null',
    );
    await run(target);
    await run(view);
    const records = stored[TOPIC_ENRICHED] ?? [];
    const sent = (version: string, record: PlacedRecord) =>
      JSON.stringify({ line: text(record), '_headers.name': ['o', 'v'], '_headers.value': ['1', version] });
    const insert = 'INSERT INTO enriched_queue FORMAT JSONEachRow ';
    await run(insert, records.map((record) => sent(VERSION, record)).join('\n'));
    await run(insert, records.map((record) => sent(VERSION, record)).join('\n'));
    await run(
      insert,
      records
        .map((record) => sent(String(RECORDS_COLUMNS_VERSION + 1), { ...record, value: Buffer.from('["row"]') }))
        .join('\n'),
    );

    const found = (await run('SELECT *, toUnixTimestamp64Milli(timestamp) AS ms FROM signups FINAL FORMAT JSONEachRow'))
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>);
    const byPlace = (rows: readonly Readonly<Record<string, unknown>>[]) =>
      rows
        .map((row) =>
          Object.entries(row)
            .map(([name, value]) => `${name}=${value}`)
            .toSorted()
            .join(),
        )
        .toSorted();
    const wanted = records
      .map((record) => decodeEnriched(record.headers, record.value))
      .filter(({ outcome }) => outcome === 'row')
      .map(
        ({
          log_id,
          raw_partition,
          raw_offset,
          site_id,
          event_name,
          timestamp,
          visitor_id,
          value,
          properties,
          country,
        }) => {
          const time = new Date(timestamp).toISOString().replace('T', ' ').replace('Z', '');
          const places = { log_id, raw_partition, raw_offset, site_id, event_name, visitor_id, value, country };
          return { ...places, plan: properties.plan ?? '', timestamp: time, ms: timestamp };
        },
      );
    expect(byPlace(found)).toEqual(byPlace(wanted));
  });

  test('the value of a record is a row of JSONCompactEachRow', async () => {
    const columns = Object.entries(ENRICHED_COLUMNS[RECORDS_COLUMNS_VERSION] ?? {});
    const structure = columns.map(([name, type]) => `\`${name}\` ${CLICKHOUSE_TYPES[type]}`).join(', ');
    for (const record of stored[TOPIC_ENRICHED] ?? []) {
      const literal = text(record).replaceAll('\\', '\\\\').replaceAll("'", "\\'");
      const names = columns.filter(([, type]) => type === 'text' || type === 'boolean').map(([name]) => name);
      const answer = await run(
        `SELECT ${names.join(', ')} FROM format(JSONCompactEachRow, '${structure}', '${literal}') FORMAT JSONEachRow`,
      );
      expect(decodeEnriched(record.headers, record.value)).toMatchObject(JSON.parse(answer));
    }
  });
});

const CLICKHOUSE_TYPES = {
  text: 'String',
  whole: 'UInt64',
  integer: 'Int64',
  'number or null': 'Nullable(Float64)',
  boolean: 'Bool',
  object: 'String',
} as const;

describe('examples/consume_enriched.py', () => {
  const program = `
import base64, collections, json, sys
sys.path.insert(0, "examples")
from consume_enriched import decode_enriched, rows
Message = collections.namedtuple("Message", "headers value")
messages = []
for line in sys.stdin:
    sent = json.loads(line)
    headers = [(name, value.encode()) for name, value in sent["headers"].items()]
    messages.append(Message(headers, base64.b64decode(sent["value"])))
print(json.dumps([decode_enriched(*message) for message in messages]))
print(json.dumps([row["raw_offset"] for row in rows(messages + messages)]))
for headers, value in (([("v", b"2")], b"[]"), ([], b"[]"), ([("v", b"1")], b"[]"), ([("v", b"1")], b"\\xff")):
    try:
        decode_enriched(headers, value)
    except ValueError as error:
        print("refused")
`;

  test('decodes as @weir/records does, skips repeats and refuses other records', () => {
    const records = stored[TOPIC_ENRICHED] ?? [];
    const input = records
      .map(({ headers, value }) => JSON.stringify({ headers, value: Buffer.from(value).toString('base64') }))
      .join('\n');
    const { stdout, stderr } = spawnSync('python3', ['-c', program], { cwd: PROJECT_ROOT, input, encoding: 'utf8' });
    expect(stderr).toBe('');
    const [events = '', offsets = '', ...refused] = stdout.trim().split('\n');
    const decoded = records.map(({ headers, value }) => decodeEnriched(headers, value));
    expect(JSON.parse(events)).toEqual(decoded);
    expect(JSON.parse(offsets).length).toBe(decoded.filter(({ outcome }) => outcome === 'row').length);
    expect(refused).toEqual(['refused', 'refused', 'refused', 'refused']);
  });
});
