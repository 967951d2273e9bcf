import { ConfigError, loadConfig } from '../src/config/config.ts';

function problemsOf(env: Readonly<Record<string, string>>): readonly string[] {
  try {
    loadConfig(env);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
}

describe('invalid settings stop the start, and the error lists all of them', () => {
  test('a password with an unescaped % is reported, but the message does not contain it', () => {
    const problems = problemsOf({ CLICKHOUSE_URL: 'http://weir:100%@127.0.0.1:8123', PORT: 'eighty' });
    expect(problems).toHaveLength(2);
    expect(problems.join()).toMatch(/CLICKHOUSE_URL: .*%25.*PORT/);
    expect(problems.join()).not.toContain('100%');
    const { engines } = loadConfig({ CLICKHOUSE_URL: 'http://weir:100%25@127.0.0.1:8123' });
    expect(engines.clickhouse?.writer.password).toBe('100%');
  });

  test.each([
    [{ CLICKHOUSE_READER_URL: 'http://reader:r@127.0.0.1:8123' }, 'CLICKHOUSE_READER_URL needs CLICKHOUSE_URL'],
    [{ KAFKA_BROKERS: 'k:9092', KAFKA_SASL_USERNAME: 'weir' }, 'KAFKA_SASL_MECHANISM'],
    [{ KAFKA_BROKERS: 'k:9092', KAFKA_SASL_PASSWORD: 'secret' }, 'KAFKA_SASL_MECHANISM'],
    [{ KAFKA_BROKERS: 'k:9092', KAFKA_SASL_MECHANISM: 'plain', KAFKA_SASL_USERNAME: 'weir' }, 'KAFKA_SASL_PASSWORD'],
  ])('an incomplete engine configuration is reported: %o', (env, said) => {
    expect(problemsOf(env)).toEqual([expect.stringContaining(said)]);
  });

  test('empty variables, which docker-compose.yml sets for roles without ClickHouse or SASL, are not reported', () => {
    expect(problemsOf({ KAFKA_BROKERS: 'k:9092', KAFKA_SASL_USERNAME: '', CLICKHOUSE_READER_URL: '' })).toEqual([]);
  });
});

test.each([
  [{ HOST: '999.1.1.1' }, 'HOST'],
  [{ HOST: 'my host' }, 'HOST'],
  [{ HOST: 'http://localhost' }, 'HOST'],
  [{ KAFKA_BROKERS: 'k:99999' }, 'KAFKA_BROKERS'],
  [{ KAFKA_BROKERS: 'k' }, 'KAFKA_BROKERS'],
  [{ KAFKA_TLS: 'maybe' }, 'KAFKA_TLS'],
])('%j is reported as a problem of %s', (env, name) => {
  expect(problemsOf(env)).toEqual([expect.stringContaining(name)]);
});

test.each(['0.0.0.0', '::', '::1', 'localhost', 'weir-1.internal'])('HOST=%s is valid', (host) => {
  expect(problemsOf({ HOST: host })).toEqual([]);
});

describe('operations.md: COLLECT_PATHS, "further paths that serve /api/collect"', () => {
  test.each([
    '/weir.js',
    '/weir.mjs',
    '/weir.core.js',
    '/weir-stub.js',
    '/readyz/',
    '/weir.js/',
    '/metrics',
    '/api/collect/',
    '/demo/x',
  ])('%s is refused, because Weir uses this path itself', (path) => {
    expect(problemsOf({ COLLECT_PATHS: path })).toEqual([expect.stringContaining(path)]);
  });

  test.each(['/t/hit', '/weir', '/weir.json', '/demonstration', '/api/v1/event'])('%s is accepted', (path) => {
    expect(problemsOf({ COLLECT_PATHS: path })).toEqual([]);
  });
});
