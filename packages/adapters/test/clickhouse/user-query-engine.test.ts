import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { EmbeddedClickhouse } from '@weir/embedded-clickhouse/start-embedded-clickhouse';
import { checkUserQuery } from '../../src/clickhouse/check-user-query.ts';
import { type ClickhouseUnderTest, openEmbeddedUnderTest } from './clickhouse-harness.ts';

// Tests `checkUserQuery` with all functions, tables, settings and keywords that the engine lists. If a new version of ClickHouse adds a table
// function, a system table, or a function that does more than compute, a test fails until it is listed here or `checkUserQuery` refuses it.

let under: ClickhouseUnderTest<EmbeddedClickhouse>;
let folder = '';

beforeAll(async () => {
  under = await openEmbeddedUnderTest();
  await under.analytics.migrate();
  folder = mkdtempSync(join(tmpdir(), 'weir-user-query-'));
});
afterAll(async () => {
  await under.close();
  rmSync(folder, { recursive: true });
});

const names = async (sql: string): Promise<string[]> =>
  (await under.analytics.select<{ name: string }>(sql)).map(({ name }) => name);
const isRefused = (sql: string): boolean => 'refused' in checkUserQuery(sql);
/** Returns the statements that `checkUserQuery` does not refuse. */
const allowed = (sqls: readonly string[]): string[] => sqls.filter((sql) => !isRefused(sql));

/** The table functions that users can call. Each value says why the function is harmless. */
const TABLE_FUNCTIONS: Readonly<Record<string, string>> = {
  SQLStandardValues: 'the values in the statement',
  values: 'the values in the statement',
  null: 'an empty table',
  numbers: 'counts, within the limits of a query',
  numbers_mt: 'counts, within the limits of a query',
  primes: 'counts, within the limits of a query',
  zeros: 'counts, within the limits of a query',
  zeros_mt: 'counts, within the limits of a query',
  generateSeries: 'counts, within the limits of a query',
  generate_series: 'counts, within the limits of a query',
  generateRandom: 'random values, within the limits of a query',
  fuzzJSON: 'random values, within the limits of a query',
  fuzzQuery: 'random texts, which are not run',
  format: 'reads a text of the statement',
  view: 'a subquery, whose words are checked like all others',
  viewIfPermitted: 'a subquery, whose words are checked like all others',
};

test('each table function of the engine is refused, or harmless for a stated reason', async () => {
  const found = await names('SELECT name FROM system.table_functions ORDER BY name');
  expect(found.length).toBeGreaterThan(80);
  const forms = (name: string) => [
    `SELECT * FROM ${name}('a')`,
    `SELECT * FROM ${name.toUpperCase()} /* */ ('a')`,
    `SELECT * FROM "${name}"('a')`,
    `SELECT * FROM (SELECT * FROM events JOIN \`${name}\`('a') USING a)`,
    `WITH a AS (SELECT * FROM ${name}('a')) SELECT * FROM a`,
    `SELECT 1 IN ${name}('a')`,
    `DESCRIBE TABLE ${name}('a')`,
    `EXPLAIN SELECT * FROM ${name}('a')`,
    `SELECT * FROM view(SELECT * FROM ${name}('a'))`,
    `SELECT * FROM viewIfPermitted(SELECT 1 AS a ELSE ${name}('a'))`,
  ];
  const harmless = found.filter((name) => allowed(forms(name)).length > 0);
  expect(harmless).toEqual(Object.keys(TABLE_FUNCTIONS).sort());
});

/** Categories of functions that only compute with their arguments. */
const COMPUTING =
  /^(Arithmetic|Arrays?|Bit(map)?|Comparison|Conditional|Dates? and Times?|Dictionary|Distance|Encoding|Encryption|Financial|Geo.*|Hash.*|IP Address|JSON|Logical|Map|Mathematical|Nullable?|Null|NumericIndexedVector|Random.*|Rounding|String.*|Time [Ss]eries|Time Window|Tuple|Type Conversion|ULID|UniqTheta|URL|UUID|QBit|Internal)$/;

test('each function of the engine that does more than compute is refused, or on the list of harmless functions', async () => {
  const functions = await under.analytics.select<{ name: string; categories: string }>(
    "SELECT name, categories FROM system.functions WHERE NOT is_aggregate AND alias_to = '' ORDER BY name",
  );
  expect(functions.length).toBeGreaterThan(1000);
  const others = functions.filter(({ categories }) => !COMPUTING.test(categories)).map(({ name }) => name);
  const harmless = others.filter(
    (name) => allowed([`SELECT ${name}('a')`, `SELECT * APPLY ${name} FROM events`]).length > 0,
  );
  expect(harmless.filter((name) => !FUNCTIONS.has(name))).toEqual([]);
  // Fails if the list contains a function that the engine no longer has, so that the list stays up to date.
  expect([...FUNCTIONS].filter((name) => !harmless.includes(name))).toEqual([]);
});

test('functions that only compute are allowed, except those whose names begin like a table function', async () => {
  const functions = await under.analytics.select<{ name: string; categories: string }>(
    "SELECT name, categories FROM system.functions WHERE NOT is_aggregate AND alias_to = '' ORDER BY name",
  );
  const computing = functions.filter(({ categories }) => COMPUTING.test(categories)).map(({ name }) => name);
  expect(computing).toEqual(expect.arrayContaining(['format', 'concat', 'URLHierarchy', 'JSONExtractString']));
  const refused = computing.filter((name) => allowed([`SELECT ${name}('a')`]).length === 0);
  expect(refused.filter((name) => !/^(timeSeries|iceberg|kafka)/.test(name))).toEqual([]);
});

test('each system table of the engine is refused, except tables that describe the engine and the tables of Weir', async () => {
  const tables = await names("SELECT name FROM system.tables WHERE database = 'system' ORDER BY name");
  expect(tables.length).toBeGreaterThan(100);
  const forms = (name: string) => [
    `SELECT * FROM system.${name}`,
    `SELECT 1 IN "system" . /* */ \`${name}\``,
    `EXISTS TABLE system.${name}`,
  ];
  expect(tables.filter((name) => allowed(forms(name)).length > 0)).toEqual(
    (
      'build_options columns data_type_families databases formats functions keywords licenses numbers numbers_mt one parts parts_columns ' +
      'table_engines table_functions tables time_zones zeros'
    ).split(' '),
  );
});

test('each setting is refused in a statement, and the engine itself refuses it in a query that only reads', async () => {
  const settings = await names('SELECT name FROM system.settings ORDER BY name');
  expect(settings.length).toBeGreaterThan(1000);
  const forms = (name: string) => [
    `SELECT 1 SETTINGS ${name} = 1`,
    `SELECT 1 settings /* */ ${name}=1`,
    `SELECT * FROM (SELECT 1 SETTINGS \`${name}\` = 1)`,
    `SELECT 1 SETTINGS "${name}" = 1 FORMAT CSV`,
    `SET ${name} = 1`,
  ];
  expect(allowed(settings.flatMap(forms))).toEqual([]);
  const ofEngine = settings.filter(
    (name, index) => index % 40 === 0 || /^allow_experimental_(ai|eval)|^readonly$/.test(name),
  );
  for (const name of ofEngine) {
    // `readOnly` sends the statement without `checkUserQuery`. The statement changes the value, because the engine does not refuse a setting that
    // keeps its value.
    const answer = await readOnly(`SELECT 1 SETTINGS ${name} = toString(getSetting('${name}')) || '1'`);
    expect([name, answer.ok]).toEqual([name, false]);
  }
});

test('each keyword of the engine is refused as the first word, unless the statement can only read', async () => {
  const keywords = await names('SELECT keyword AS name FROM system.keywords ORDER BY keyword');
  expect(keywords.length).toBeGreaterThan(300);
  const first = keywords.filter((keyword) => !isRefused(`${keyword} events`) && !keyword.startsWith('SHOW'));
  expect(first).toEqual(
    [
      'DESC',
      'DESCRIBE',
      'EXISTS',
      'EXPLAIN',
      'FROM',
      'SELECT',
      'WITH',
      ...first.filter((word) => /^(WITH|SELECT|FROM|EXPLAIN|DESCRIBE|DESC|EXISTS) /.test(word)),
    ].sort(),
  );
  // CREATE is in the list only because `SHOW CREATE TABLE` is allowed. Statements that begin with CREATE are refused.
  expect(keywords.filter((keyword) => !isRefused(`SHOW ${keyword} events`))).toEqual(
    'COLUMNS,CREATE,CREATE TABLE,CREATE TEMPORARY TABLE,DATABASES,EXTENDED,FIELDS,FULL,INDEX,INDEXES,INDICES,KEYS,TABLE,TABLE OVERRIDE,TABLES,VIEW'.split(
      ',',
    ),
  );
});

test('each format is refused, and so is a file for the answer', async () => {
  const formats = await names('SELECT name FROM system.formats ORDER BY name');
  expect(formats.length).toBeGreaterThan(50);
  const file = join(folder, 'written');
  const forms = (name: string) => [
    `SELECT 1 FORMAT ${name}`,
    `SELECT 1 INTO OUTFILE '${file}' FORMAT ${name}`,
    `SELECT 1 INTO OUTFILE '${file}' APPEND COMPRESSION 'gzip' FORMAT ${name};`,
  ];
  expect(allowed(formats.flatMap(forms))).toEqual([]);
});

test('no query tells whether a file exists: the files of the machine are tables of the database default', async () => {
  const there = join(folder, 'there.csv');
  writeFileSync(there, 'secret\n1\n');
  const missing = join(folder, 'missing.csv');
  // `readOnly` sends the statement without `checkUserQuery`. The answers show why the check is needed: the engine reveals whether a file exists.
  const exists = async (path: string) => (await readOnly(`EXISTS TABLE default.\`${path}\``)).text;
  expect([await exists(there), await exists(missing)]).toEqual(['1\n', '0\n']);
  const forms = [
    (path: string) => `EXISTS TABLE default.\`${path}\``,
    (path: string) => `EXISTS "default" /* */ . "${path}"`,
    (path: string) => `SELECT * FROM default.\`${path}\``,
    (path: string) => `SELECT 1 IN \`default\`.\`${path}\``,
    (path: string) => `DESCRIBE TABLE Default.\`${path}\``,
    (path: string) => `SHOW CREATE TABLE default.\`${path}\``,
    (path: string) => `SHOW COLUMNS FROM \`${path}\` FROM default`,
    (path: string) => `SELECT hasColumnInTable('default', '${path}', 'secret')`,
    (path: string) => `SELECT joinGet('default.${path}', 'secret', 1)`,
    (path: string) => `SELECT dictGet('default.${path}', 'secret', 1)`,
    (path: string) => `SELECT name FROM system.tables WHERE database = 'default' AND name = '${path}'`,
    (path: string) => `SELECT name FROM system.columns WHERE database = 'default' AND table = '${path}'`,
    (path: string) => `SELECT * FROM \`${path}\``,
    (path: string) =>
      `SELECT * FROM information_schema.columns WHERE table_schema = 'default' AND table_name = '${path}'`,
  ];
  const answer = async (sql: string) => {
    try {
      return JSON.stringify((await under.analytics.userQuery(sql, {})).rows);
    } catch (error) {
      return (error as Error).message;
    }
  };
  for (const form of forms) {
    const [ofThere, ofMissing] = [await answer(form(there)), await answer(form(missing))];
    expect(ofThere.replaceAll('there.csv', 'F')).toBe(ofMissing.replaceAll('missing.csv', 'F'));
  }
});

/** Runs a statement without `checkUserQuery`, with ClickHouse's setting `readonly`. */
async function readOnly(sql: string): Promise<{ readonly ok: boolean; readonly text: string }> {
  const { url, username, password } = under.clickhouse;
  const response = await fetch(`${url}/?readonly=1`, {
    method: 'POST',
    body: sql,
    headers: { 'X-ClickHouse-User': username, 'X-ClickHouse-Key': password },
  });
  return { ok: response.ok, text: await response.text() };
}

/** Harmless functions that are not in one of the categories of `COMPUTING`. */
const FUNCTIONS = new Set(
  [
    // These functions only compute with their arguments.
    'MACNumToString MACStringToNum MACStringToOUI bar byteSize colorOKLABToSRGB colorOKLCHToSRGB colorSRGBToOKLAB colorSRGBToOKLCH',
    'countDigits defaultValueOfArgumentType defaultValueOfTypeName demangle digits dumpColumnStructure errorCodeToName finalizeAggregation',
    'flipCoordinates formatQuery formatQueryOrNull formatQuerySingleLine formatQuerySingleLineOrNull formatReadableDecimalSize',
    'formatReadableQuantity formatReadableSize formatReadableTimeDelta fuzzQuery generateRandomStructure getSizeOfEnumType getSubcolumn',
    'getTypeSerializationStreams highlightQuery identity ignore indexHint initializeAggregation isConstant isDecimalOverflow',
    'isMergeTreePartCoveredBy lowCardinalityIndices lowCardinalityKeys materialize minSampleSizeContinuous minSampleSizeConversion',
    'icebergBucket icebergTruncate mergeTreePartInfo neighbor normalizeQuery normalizeQueryKeepNames normalizedQueryHash normalizedQueryHashKeepNames obfuscateQuery',
    'obfuscateQueryWithSeed parseReadableSize parseReadableSizeOrNull parseReadableSizeOrZero parseTimeDelta runningAccumulate',
    'runningConcurrency runningDifference runningDifferenceStartingWithFirstValue structureToCapnProtoSchema structureToProtobufSchema',
    'throwIf toColumnTypeName toTypeName tokenizeQuery transform variantElement variantType visibleWidth',
    // These functions wait, at most 3 s for each block of rows. They are harmless because queries have a time limit.
    'sleep sleepEachRow',
    // These functions show the state of the query, the rights of the reader, or facts about the server: its version, name, ports and settings.
    'FQDN authenticatedUser blockNumber blockSerializedSize blockSize buildId connectionId currentDatabase currentProfiles',
    'currentQueryID currentRoles currentSchemas currentUser defaultProfiles defaultRoles displayName enabledProfiles enabledRoles',
    'getMaxTableNameLengthForDatabase getMergeTreeSetting getOSKernelVersion getServerPort getSetting getSettingOrDefault globalVariable',
    'evalMLMethod filesystemAvailable filesystemCapacity filesystemUnreserved hasThreadFuzzer hostName initialQueryID initialQueryStartTime partitionId queryID revision rowNumberInAllBlocks rowNumberInBlock',
    'serverUUID shardCount shardNum tcpPort tid transactionID transactionLatestSnapshot transactionOldestSnapshot uptime version',
    'zookeeperSessionUptime',
    // These functions read a dictionary of regions, if the configuration of the server contains one. Weir has no such dictionary.
    'regionHierarchy regionIn regionToArea regionToCity regionToContinent regionToCountry regionToDistrict regionToName',
    'regionToPopulation regionToTopContinent',
  ].flatMap((line) => line.split(' ')),
);
