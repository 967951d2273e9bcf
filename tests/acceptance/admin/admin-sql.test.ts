import { ACCEPTED, expectEnvelope, expectJson } from '../expect-answers.ts';
import { useWeir } from '../use-weir.ts';

const weir = useWeir();
const ask = (query: unknown, params?: unknown) =>
  weir.admin('POST', '/sql', { query, ...(params === undefined ? {} : { params }) });

describe('sql', () => {
  test('the answer has columns with name and type, and rows as objects', async () => {
    const answer = await ask("SELECT toUInt8(1) AS one, 'x' AS text, NULL AS nothing");
    expectJson(answer, 200, {
      status: 'success',
      data: {
        columns: [
          { name: 'one', type: 'UInt8' },
          { name: 'text', type: 'String' },
          { name: 'nothing', type: 'Nullable(Nothing)' },
        ],
        rows: [{ one: 1, text: 'x', nothing: null }],
      },
    });
  });

  test('params replace placeholders', async () => {
    const hostile = "'; DROP TABLE events; -- \\ \u{1F30A}";
    const query = 'SELECT {text:String} AS text, {number:UInt32} + 1 AS number';
    expect(await weir.sql(query, { text: hostile, number: 41 })).toEqual([{ text: hostile, number: 42 }]);
    expectEnvelope(await ask('SELECT {missing:String}'), 400);
  });

  test('an answer has up to 100,000 rows', async () => {
    expect(await weir.sql('SELECT number FROM numbers(100000)')).toHaveLength(100_000);
    const more = await ask('SELECT number FROM numbers(100001)');
    if (more.status === 200) expect((more.json as { data: { rows: unknown[] } }).data.rows).toHaveLength(100_000);
    else expectEnvelope(more, 400);
  });

  test.each([
    'SELECT count() FROM weir.events',
    'SHOW TABLES',
    'DESCRIBE events',
    'EXPLAIN SELECT 1',
    'WITH 1 AS x SELECT x',
    'SELECT 1;',
    "SELECT 'INSERT INTO events; DROP TABLE x INTO OUTFILE'",
    'SELECT 1 -- KILL QUERY',
    '/* SET x=1; */ SELECT 1',
  ])('read: %s', async (query) => {
    expect((await ask(query)).status).toBe(200);
  });

  test.each([
    "INSERT INTO events (site_id) VALUES ('x')",
    'CREATE TABLE t (a Int8) ENGINE = Memory',
    'CREATE TEMPORARY TABLE t (a Int8)',
    'DROP TABLE events',
    'DROP VIEW events',
    'TRUNCATE TABLE records',
    'ALTER TABLE records DELETE WHERE 1',
    'DELETE FROM records WHERE 1',
    'OPTIMIZE TABLE records',
    'RENAME TABLE records TO other',
    'ATTACH TABLE x',
    'DETACH TABLE records',
    'SYSTEM SHUTDOWN',
    'SYSTEM FLUSH LOGS',
    'KILL QUERY WHERE 1',
    '/* comment */ KILL QUERY WHERE 1',
    '-- comment\nKILL QUERY WHERE 1',
    'SET max_memory_usage = 0',
    'SET readonly = 0',
    'SELECT 1 SETTINGS readonly = 0',
    'SELECT 1 SETTINGS max_execution_time = 0',
    'SELECT * FROM (SELECT 1 SETTINGS max_memory_usage = 0)',
    "SELECT 1 INTO OUTFILE '/tmp/weir-outfile-test'",
    "SELECT 1 INTO/**/OUTFILE '/tmp/weir-outfile-test'",
    "SELECT 1 into\noutfile '/tmp/weir-outfile-test'",
    "SELECT * FROM file('/etc/passwd', 'LineAsString')",
    "INSERT INTO FUNCTION file('/tmp/x') SELECT 1",
    "SELECT * FROM url('http://127.0.0.1:1/', 'LineAsString')",
    "SELECT * FROM remote('127.0.0.1:9000', system.one)",
    "SELECT * FROM remoteSecure('127.0.0.1', system.one)",
    "SELECT * FROM s3('http://127.0.0.1:1/x', 'CSV')",
    "SELECT * FROM executable('id', 'TSV', 'x String')",
    "SELECT * FROM mysql('127.0.0.1:1', 'a', 'b', 'c', 'd')",
    "SELECT * FROM sqlite('/tmp/x', 't')",
    'SELECT 1; SELECT 2',
    'SELECT 1; DROP TABLE events',
    "BACKUP TABLE records TO Disk('x', 'y')",
    'USE system',
    'GRANT ALL ON *.* TO x',
    'SELEC 1',
    'SELECT * FROM no_such_table',
    'SELECT',
    '',
    '   ',
    ';',
  ])('400: %j', async (query) => {
    expectEnvelope(await ask(query), 400);
  });

  test('file() cannot be called by another name', async () => {
    for (const query of [
      "SELECT file('/etc/passwd')",
      "SELECT * FROM fileCluster('c', '/etc/passwd', 'LineAsString')",
    ]) {
      const answer = await ask(query);
      expectEnvelope(answer, 400);
      expect(answer.text).not.toContain('root:');
    }
  });

  test('an invalid body gets 400', async () => {
    for (const body of [{}, { query: 5 }, { query: 'SELECT 1', params: 'x' }, '{']) {
      expectEnvelope(await weir.admin('POST', '/sql', body), 400);
    }
  });

  test('params of 32 levels are accepted; deeper ones get 400, whatever their depth', async () => {
    const withLevels = (levels: number) =>
      `{"query":"SELECT 1 AS one","params":{"a":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}}`;
    expect((await weir.admin('POST', '/sql', withLevels(32))).status).toBe(200);
    for (const levels of [33, 10_000, 100_000]) {
      expectEnvelope(
        await weir.admin('POST', '/sql', withLevels(levels)),
        400,
        /^params must be at most 32 levels deep$/,
      );
    }
  });

  test('a query that needs too much memory is refused, and other requests are not affected', async () => {
    const { key } = await weir.createSiteWithKey();
    const greedy = ask('SELECT length(groupArray(number)) FROM numbers(2000000000)');
    expectJson(await weir.events(key, { name: 'meanwhile' }), 202, ACCEPTED);
    expectEnvelope(await greedy, 400);
    expect(await weir.sql('SELECT 1 AS one')).toEqual([{ one: 1 }]);
  });

  test('the tables still exist, in the default database of every query', async () => {
    expect(await weir.sql('SELECT currentDatabase() AS name')).toEqual([{ name: 'weir' }]);
    expect(await weir.number('SELECT count() >= 0 FROM events')).toBe(1);
  });
});

describe('pipeline, health, metrics, OpenAPI', () => {
  test('the pipeline route shows lag, rate, last error and dead letters of each topic and consumer', async () => {
    const data = (await weir.must(200, 'GET', '/pipeline')) as readonly { readonly last_error: unknown }[];
    const number: unknown = expect.any(Number);
    const values = { lag: number, rate_per_second: number, dead_letters: number };
    expect(data).toEqual([
      expect.objectContaining({ topic: 'events.raw', consumer: 'weir-enricher', ...values }),
      expect.objectContaining({ topic: 'events.enriched', consumer: 'weir-writer', ...values }),
    ]);
    for (const { last_error } of data) expect(last_error === null || typeof last_error === 'string').toBe(true);
  });

  test('health, metrics and the OpenAPI document need no token', async () => {
    for (const path of ['/healthz', '/readyz', '/metrics', '/openapi.json']) {
      expect((await weir.send({ path })).status).toBe(200);
    }
  });

  test('metrics have the text format of Prometheus', async () => {
    const answer = await weir.send({ path: '/metrics' });
    expect(answer.headers['content-type']).toMatch(/^text\/plain/);
    const lines = answer.text.split('\n').filter((line) => line !== '');
    for (const line of lines) {
      expect(line).toMatch(/^(# (HELP|TYPE) \S+ .+|[a-zA-Z_:][\w:]*(\{.*\})? [-+]?(\d[\d.e+-]*|Inf|NaN)( \d+)?)$/);
    }
    expect(lines.length).toBeGreaterThan(10);
  });

  test('the OpenAPI 3.1 document has all routes', async () => {
    const { json } = await weir.send({ path: '/openapi.json' });
    const { openapi, paths } = json as {
      openapi: string;
      paths: Record<string, Record<string, { responses: object }>>;
    };
    expect(openapi).toMatch(/^3\.1\./);
    const has = (path: string, method: string) => paths[path]?.[method]?.responses ?? {};
    expect(Object.keys(has('/api/v1/events', 'post')).toSorted()).toEqual(
      expect.arrayContaining(['200', '202', '400', '401', '403', '413', '429', '503']),
    );
    expect(Object.keys(has('/api/identify', 'post'))).toEqual(
      expect.arrayContaining(['200', '400', '401', '403', '413', '429', '503']),
    );
    expect(Object.keys(has('/api/collect', 'post'))).toEqual(
      expect.arrayContaining(['204', '400', '404', '413', '429', '503']),
    );
    const admin = [
      'sites',
      'sites/{}',
      'sites/{}/keys',
      'sites/{}/keys/{}',
      'sites/{}/exclusions',
      'sites/{}/exclusions/{}',
      'sql',
      'pipeline',
    ];
    const found = Object.keys(paths).map((path) => path.replace(/\{\w+\}/g, '{}'));
    expect(found).toEqual(expect.arrayContaining(admin.map((path) => `/api/admin/${path}`)));
    expect(found).toEqual(expect.arrayContaining(['/healthz', '/readyz', '/metrics', '/openapi.json']));
  });
});
