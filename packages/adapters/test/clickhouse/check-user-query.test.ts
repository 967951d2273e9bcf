import { sqlStatements, sqlTokens } from '@weir/embedded-clickhouse/sql-tokens';
import { checkUserQuery } from '../../src/clickhouse/check-user-query.ts';
import { exactIntegers } from '../../src/clickhouse/run-user-query.ts';

describe('docs/api.md, SQL: statements that write, change settings, or read files, URLs or remote tables are refused', () => {
  it.each([
    'SELECT 1',
    ' select 1 ; ',
    'SELECT 1;;',
    "SELECT ';' AS semicolon, 'INTO OUTFILE' AS text -- a comment; with a semicolon",
    'WITH x AS (SELECT 1 AS file_count) SELECT * FROM x',
    '(SELECT 1) UNION ALL (SELECT 2)',
    "SELECT properties.file, `properties`.`url` FROM events WHERE url LIKE 'file(%' AND match(url, '[a-z]')",
    'SELECT url, count() FROM events GROUP BY url /* url( */',
    "SELECT URLHash(url), cutURLParameter(url, 'a') FROM events",
    'SELECT URLHierarchy(url), URLPathHierarchy(url) FROM events',
    'SHOW TABLES',
    'DESCRIBE events',
    'EXPLAIN SELECT 1',
    'SELECT count() FROM system.tables',
    "SELECT 'it''s', 'a\\'b', $x$ it's; $x$",
    'SELECT {n:UInt8} + 1',
    'SELECT \'ü\', "spalte mit ü" FROM t',
  ])('allows %s', (sql) => {
    expect(checkUserQuery(sql)).toHaveProperty('statement');
  });

  it.each([
    '',
    '   -- nothing',
    ';',
    'SELECT 1; SELECT 2',
    'SELECT 1 /* ; */ ; DROP TABLE records',
    "SELECT '\\'; DROP TABLE records --'; DROP TABLE records",
    'INSERT INTO records (site_id) VALUES (1)',
    'insert/* */into records select 1',
    'DROP TABLE records',
    'ALTER TABLE records DELETE WHERE 1',
    'TRUNCATE TABLE records',
    'SET max_threads = 1',
    'KILL QUERY WHERE 1',
    'SYSTEM FLUSH LOGS',
    "BACKUP DATABASE weir TO File('x')",
    'USE system',
    'SHOW PROCESSLIST',
    'SHOW GRANTS',
    'SELECT 1 SETTINGS max_threads = 1',
    'SELECT * FROM (SELECT 1 settings max_execution_time=0)',
    "SELECT 1 INTO OUTFILE '/tmp/x'",
    "SELECT 1 INTO/* */OUTFILE '/tmp/x'",
    "SELECT file('/etc/passwd')",
    "SELECT FILE ('/etc/passwd')",
    "SELECT `file`('/etc/passwd')",
    'SELECT "file"(\'/etc/passwd\')',
    'SELECT "\\x66ile"(\'/etc/passwd\')',
    "SELECT * APPLY file FROM (SELECT '/etc/passwd' AS p)",
    "SELECT arrayMap(file, ['/etc/passwd'])",
    "SELECT * FROM file('/etc/passwd', LineAsString)",
    "SELECT * FROM url('http://127.0.0.1/', CSV)",
    "SELECT * FROM url/* */('http://127.0.0.1/', CSV)",
    "SELECT * FROM s3('http://127.0.0.1/b/c')",
    "SELECT * FROM s3Cluster('c', 'http://127.0.0.1/b/c')",
    "SELECT * FROM remote('127.0.0.1', system.one)",
    "SELECT * FROM remoteSecure('127.0.0.1', system.one)",
    "SELECT * FROM cluster('default', system.one)",
    "SELECT * FROM clusterAllReplicas('default', system.one)",
    "SELECT * FROM mysql('127.0.0.1', 'a', 'b', 'c', 'd')",
    "SELECT * FROM postgresql('127.0.0.1', 'a', 'b', 'c', 'd')",
    "SELECT * FROM executable('x.sh', TSV, 'a String')",
    "SELECT * FROM merge('system', '.*')",
    'SELECT * FROM loop(system.one)',
    'SELECT * FROM system.processes',
    'SELECT * FROM system . query_log',
    'SELECT * FROM `system`.users',
    'SELECT * FROM system./* */"users"',
    'SELECT * FROM {t:Identifier}',
    'SELECT * FROM events FORMAT CSV',
    "SELECT 'unclosed",
    'SELECT /* unclosed',
    'SELECT /* a /* b */ 1',
    'SELECT ‘a’',
    'SELECT 1 \u0000',
    'SELECT $x$ unclosed',
    `SELECT ${'1,'.repeat(40_000)} 1`,
  ])('refuses %s', (sql) => {
    expect(checkUserQuery(sql)).toHaveProperty('refused');
  });

  it('returns the statement without its trailing semicolon', () => {
    expect(checkUserQuery(' SELECT 1 -- one\n ; ')).toEqual({ statement: 'SELECT 1' });
  });
});

describe('sqlTokens', () => {
  it('splits a file into its statements', () => {
    expect(sqlStatements("-- a;\nSELECT ';';\n\nSELECT `;` # b\n;/* ; */")).toEqual(["SELECT ';'", 'SELECT `;`']);
  });

  it('reads a long string with many quotes without backtracking', () => {
    expect(sqlTokens(`SELECT '${"a''".repeat(300_000)}'`).length).toBe(2);
  });
});

describe('exactIntegers', () => {
  it('keeps exact numbers and turns numbers that would be rounded into strings', () => {
    const json =
      '{"a":18446744073709551615,"b":[9007199254740991,-9007199254740993],"c":"18446744073709551615\\"1","d":1.12345678901234567890,"e":1e5,"f":0.30000000000000004,"g":12345678901234567000}';
    expect(JSON.parse(exactIntegers(json))).toEqual({
      a: '18446744073709551615',
      b: [9007199254740991, '-9007199254740993'],
      c: '18446744073709551615"1',
      d: '1.12345678901234567890',
      e: 1e5,
      f: Number('0.30000000000000004'),
      // A Float64 stays a number, because ClickHouse and JavaScript write it in the same shortest form.
      g: Number('12345678901234567000'),
    });
  });

  it('reads a string with millions of escapes', () => {
    const text = `"${'\\n'.repeat(8_000_000)}"`;
    expect(exactIntegers(`[${text},18446744073709551615]`) === `[${text},"18446744073709551615"]`).toBe(true);
  });
});
