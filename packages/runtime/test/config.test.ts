import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfigError, loadConfig } from '../src/config/config.ts';

function problemsOf(env: Readonly<Record<string, string>>, namedRoles?: readonly string[]): readonly string[] {
  try {
    loadConfig(env, namedRoles);
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
    [{ REDIS_URL: 'redis+sentinel://one,two' }, 'REDIS_URL: a Sentinel URL must end with the name of the master'],
    [{ REDIS_URL: 'redis://weir:100%@r' }, 'REDIS_URL: write a % of the user name, the password'],
    [{ REDIS_URL: 'redis://r/state' }, 'REDIS_URL: "state" is not a database number'],
  ])('an incomplete engine configuration is reported: %o', (env, said) => {
    expect(problemsOf(env)).toEqual([expect.stringContaining(said)]);
  });

  test('empty variables, which docker-compose.yml sets for roles without ClickHouse or SASL, are not reported', () => {
    expect(problemsOf({ KAFKA_BROKERS: 'k:9092', KAFKA_SASL_USERNAME: '', CLICKHOUSE_READER_URL: '' })).toEqual([]);
  });
});

describe('settings that contradict each other stop the start', () => {
  const KAFKA = { KAFKA_BROKERS: 'k:9092' };
  const SENTINEL = { REDIS_URL: 'redis+sentinel://r/master' };
  const SASL = { KAFKA_SASL_MECHANISM: 'plain', KAFKA_SASL_USERNAME: 'weir', KAFKA_SASL_PASSWORD: 'secret' };
  const CLICKHOUSE = { CLICKHOUSE_URL: 'http://c:8123' };
  const BACKUP = { WEIR_BACKUP_TO: 'file:///mnt/backups' };

  test.each([
    [{ ...KAFKA, KAFKA_TLS_CA_FILE: __filename }, 'KAFKA_TLS_CA_FILE needs KAFKA_TLS=true'],
    [{ ...KAFKA, KAFKA_TLS: 'false', KAFKA_TLS_CA_FILE: __filename }, 'KAFKA_TLS_CA_FILE needs KAFKA_TLS=true'],
    [{ REDIS_URL: 'redis://r', REDIS_TLS_CA_FILE: __filename }, 'REDIS_TLS_CA_FILE needs TLS'],
    [{ REDIS_URL: 'redis+cluster://r', REDIS_TLS_CA_FILE: __filename }, 'REDIS_TLS_CA_FILE needs TLS'],
    [{ REDIS_URL: 'redis://r', REDIS_SENTINEL_PASSWORD: 'pass@' }, 'REDIS_SENTINEL_PASSWORD is only for Sentinels'],
    [{ ...SENTINEL, REDIS_SENTINEL_USERNAME: 'weir' }, 'REDIS_SENTINEL_USERNAME needs REDIS_SENTINEL_PASSWORD'],
    [SASL, 'not set, but KAFKA_SASL_MECHANISM, KAFKA_SASL_USERNAME, KAFKA_SASL_PASSWORD: '],
    [
      { KAFKA_TLS: 'true', KAFKA_TLS_CA_FILE: __filename },
      'KAFKA_BROKERS is not set, but KAFKA_TLS, KAFKA_TLS_CA_FILE: ',
    ],
    [{ KAFKA_TOPIC_PREFIX: 'prod.', KAFKA_BROKERS: '' }, 'KAFKA_BROKERS is not set, but KAFKA_TOPIC_PREFIX: '],
    [{ KAFKA_BROKERS: ',', KAFKA_TLS: 'true' }, 'KAFKA_BROKERS contains no broker'],
    [{ ...BACKUP, ...KAFKA }, 'WEIR_BACKUP_TO makes no backups together with KAFKA_BROKERS'],
    [
      { ...BACKUP, ...CLICKHOUSE, WEIR_BACKUP_EVERY: '24h' },
      'WEIR_BACKUP_TO makes no backups together with CLICKHOUSE_URL',
    ],
    [{ CLICKHOUSE_URL: 'http://weir:pass@c:8123/clickhouse' }, 'CLICKHOUSE_URL must end after host:port'],
    [{ CLICKHOUSE_URL: 'http://weir:pass@c:8123/?database=web' }, 'CLICKHOUSE_URL must end after host:port'],
    [
      { ...CLICKHOUSE, CLICKHOUSE_READER_URL: 'http://c:8123/reader' },
      'CLICKHOUSE_READER_URL must end after host:port',
    ],
  ])('%j', (env, said) => {
    expect(problemsOf(env)).toEqual([expect.stringContaining(said)]);
    expect(problemsOf(env).join()).not.toContain('pass@');
  });

  test('the role archiver, if the command line names it, without ARCHIVE_URL', () => {
    const said = [expect.stringContaining('the role archiver needs ARCHIVE_URL')];
    expect(problemsOf({}, ['archiver'])).toEqual(said);
    expect(problemsOf({ ARCHIVE_URL: ' ' }, ['writer', 'archiver'])).toEqual(said);
    expect(problemsOf({ ARCHIVE_URL: 'file:///mnt/archive' }, ['archiver'])).toEqual([]);
    for (const named of [[], ['writer']]) expect(problemsOf({}, named)).toEqual([]);
  });

  test.each([
    // All defaults, written out.
    [
      {
        KAFKA_BROKERS: '',
        KAFKA_TLS: 'false',
        KAFKA_TLS_CA_FILE: '',
        KAFKA_TOPIC_PREFIX: '',
        KAFKA_COMPRESSION: 'none',
      },
    ],
    [{ REDIS_URL: '', REDIS_TLS_CA_FILE: '', CLICKHOUSE_URL: '', ARCHIVE_URL: '', WEIR_BACKUP_KEEP: '0' }],
    // WEIR_BACKUP_TO is not required: a backup on request can name its destination.
    [{ WEIR_BACKUP_KEEP: '7' }],
    // Settings of Redis and ClickHouse are valid without their URL: processes share an environment, but only some roles get the URLs.
    [{ ...KAFKA, REDIS_TLS_CA_FILE: __filename, CLICKHOUSE_DATABASE: 'web', WEIR_BACKUP_KEEP: '7' }],
    [{ KAFKA_COMPRESSION: 'lz4' }],
    [{ ...KAFKA, ...SASL, KAFKA_TLS: 'true', KAFKA_TLS_CA_FILE: __filename }],
    [{ REDIS_URL: 'rediss+sentinel://r/master', REDIS_TLS_CA_FILE: __filename, ...BACKUP }],
    [{ ...SENTINEL, REDIS_SENTINEL_USERNAME: 'weir', REDIS_SENTINEL_PASSWORD: 'secret' }],
    [{ CLICKHOUSE_URL: 'https://weir:pass@c:8443/' }],
  ])('but not %j', (env) => {
    expect(problemsOf(env)).toEqual([]);
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

describe('GEOIP_DATABASE', () => {
  const folder = mkdtempSync(join(tmpdir(), 'weir-geoip-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  const marker = Buffer.from('\xab\xcd\xefMaxMind.com', 'latin1');
  const write = (...parts: readonly Buffer[]): string => {
    const file = join(folder, 'geo.mmdb');
    writeFileSync(file, Buffer.concat(parts));
    return file;
  };

  test('a file is an MMDB file if its last 128 KiB contain the marker of the metadata', () => {
    const rest = 128 * 1024 - marker.length;
    expect(problemsOf({ GEOIP_DATABASE: write(Buffer.alloc(5), marker, Buffer.alloc(rest)) })).toEqual([]);
    expect(problemsOf({ GEOIP_DATABASE: folder })).toEqual([]);
    for (const parts of [[], [marker, Buffer.alloc(rest + 1)]]) {
      const file = write(...parts);
      const problems = problemsOf({ GEOIP_DATABASE: file, PORT: 'eighty' });
      expect(problems).toHaveLength(2);
      expect(problems).toContainEqual(expect.stringContaining(`GEOIP_DATABASE: ${file} is not an MMDB file`));
    }
  });

  test('a folder needs MMDB files, and no file *.mmdb may be of another kind', () => {
    const empty = mkdtempSync(join(folder, 'empty-'));
    writeFileSync(join(empty, 'README.txt'), '');
    const wrong = mkdtempSync(join(folder, 'wrong-'));
    writeFileSync(join(wrong, 'a.mmdb'), marker);
    writeFileSync(join(wrong, 'b.mmdb'), 'text');
    const unreadable = mkdtempSync(join(folder, 'unreadable-'));
    mkdirSync(join(unreadable, 'c.mmdb'));
    const advice = 'set it to an MMDB file, or to a folder of MMDB files';
    for (const [path, said] of [
      [empty, `the folder ${empty} has no file *.mmdb: ${advice}`],
      [wrong, `${wrong}/b.mmdb is not an MMDB file: ${advice}`],
      [unreadable, `${unreadable} cannot be read (EISDIR): ${advice} that Weir can read`],
    ] as const) {
      const problems = problemsOf({ GEOIP_DATABASE: path, PORT: 'eighty' });
      expect(problems).toHaveLength(2);
      expect(problems).toContain(`GEOIP_DATABASE: ${said}`);
    }
  });

  test('a path that does not exist', () => {
    const missing = join(folder, 'missing.mmdb');
    expect(problemsOf({ GEOIP_DATABASE: missing })).toEqual([
      `GEOIP_DATABASE: ${missing} cannot be read (ENOENT): set it to an MMDB file, or to a folder of MMDB files that Weir can read`,
    ]);
  });
});

test.each([
  ['https://events.example.com', 'https://events.example.com'],
  ['https://Events.example.com:443/', 'https://events.example.com'],
  ['http://127.0.0.1:8080', 'http://127.0.0.1:8080'],
  ['http://[::1]:8080/', 'http://[::1]:8080'],
  ['', undefined],
])('WEIR_PUBLIC_URL=%s is the address %s', (text, publicUrl) => {
  expect(loadConfig({ WEIR_PUBLIC_URL: text }).publicUrl).toBe(publicUrl);
});

test.each([
  'events.example.com',
  'localhost:8080',
  'ftp://events.example.com',
  'https://',
  'https://events.example.com/weir',
  'https://events.example.com/?site=shop',
  'https://events.example.com/?',
  'https://events.example.com/#top',
  'https://ada:secret@events.example.com',
  'https://events.example.com:99999',
  `https://events'example.com`,
])('WEIR_PUBLIC_URL=%s is refused', (text) => {
  const problems = problemsOf({ WEIR_PUBLIC_URL: text });
  expect(problems).toEqual([
    expect.stringMatching(/^WEIR_PUBLIC_URL must be .*without a user, path, query or fragment/),
  ]);
  expect(problems.join()).not.toContain('secret');
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
    '/metrics//',
    '/',
    '//',
    '/api/collect/',
    '/demo/x',
  ])('%s is refused, because Weir uses this path itself', (path) => {
    expect(problemsOf({ COLLECT_PATHS: path })).toEqual([expect.stringContaining(path)]);
  });

  test('a path that is named twice, with or without slashes at its end, is one path', () => {
    const { collectPaths } = loadConfig({ COLLECT_PATHS: '/t/hit, /t/hit/, /t/hit, /u//' });
    expect(collectPaths).toEqual(['/t/hit', '/u']);
  });

  test.each(['/t/hit', '/weir', '/weir.json', '/demonstration', '/api/v1/event'])('%s is accepted', (path) => {
    expect(problemsOf({ COLLECT_PATHS: path })).toEqual([]);
  });
});
