import { ClickHouseError } from '@clickhouse/client';
import { insertError, statementError, userQueryError } from '../../src/clickhouse/clickhouse-errors.ts';

const of = (code: number, message = 'm'): ClickHouseError =>
  new ClickHouseError({ code: String(code), message, type: 'SOME_TYPE' });

test.each([
  [243, 'Cannot reserve 1.00 MiB, not enough space'],
  [75, 'Cannot write to file, errno: 28, strerror: No space left on device'],
])('error %i of a full disk has isFull, so that the writer raises an alarm at once', (code, message) => {
  expect(insertError(of(code, message))).toMatchObject({ code: 'analytics_unavailable', isFull: true });
  expect(insertError(of(75)).isFull).toBe(false);
});

describe('an insert is refused only if the error code proves that a row caused the error', () => {
  test.each([6, 26, 27, 38, 41, 53, 70, 72, 117, 131, 321, 349, 376, 407, 467, 469])('%i: a row caused it', (code) => {
    expect(insertError(of(code)).code).toBe('analytics_refused');
  });

  test.each([1_999, 700, 49, 1_001, 1_002])('%i: not proven', (code) => {
    expect(insertError(of(code)).code).toBe('analytics_unavailable');
  });

  test.each([
    ['connections', [95, 96, 749, 762, 198, 203, 209, 210, 279, 1000]],
    ['time', [159, 160]],
    ['memory', [173, 241, 776, 777, 778]],
    ['load', [202, 252, 364, 439, 745]],
    ['a full disk, or too many open files', [74, 75, 76, 204, 243]],
    ['a truncated body', [3, 32, 33]],
    ['a table or replica that is read-only', [164, 225, 242, 244, 254, 285, 286, 319, 999]],
    ['missing permissions', [192, 193, 194, 195, 201, 497, 516]],
    ['unknown tables or columns', [16, 47, 60, 81, 218]],
    ['a server or query that was stopped', [236, 394, 677, 735]],
  ])('%s: not proven', (_, codes) => {
    for (const code of codes) expect([code, insertError(of(code)).code]).toEqual([code, 'analytics_unavailable']);
  });

  test('too many open files, also while a row is read: not proven', () => {
    const message =
      'Cannot open file, errno: 24, strerror: Too many open files: while reading the value of key url: (at row 7)';
    for (const code of [74, 75, 76, 1_001]) expect(insertError(of(code, message)).code).toBe('analytics_unavailable');
  });

  test('an error without an answer from ClickHouse: not proven', () => {
    expect(insertError(new Error('socket hang up')).code).toBe('analytics_unavailable');
  });

  test('names the column and the row number, and quotes no data', () => {
    const error = insertError(of(27, 'while reading the value of key url: "ada@example.com" (at row 7)'));
    expect(error.message).toBe('ClickHouse error 27 SOME_TYPE, column url, row 7');
    expect(error.cause).toBeUndefined();
  });
});

test('an invalid statement of Weir is `analytics_refused`, too many connections are `analytics_unavailable`', () => {
  expect(statementError(of(62)).code).toBe('analytics_refused');
  expect(statementError(of(210)).code).toBe('analytics_unavailable');
});

describe('a report or a query of a user', () => {
  const codesOf = (code: number, message?: string): readonly string[] =>
    [true, false].map((isReport) => userQueryError(of(code, message), isReport).code);
  const BOTH_UNAVAILABLE = ['analytics_unavailable', 'analytics_unavailable'];

  test.each([
    [201, 'Quota for user has been exceeded'],
    [202, 'Too many simultaneous queries'],
    [241, '(for user) memory limit exceeded: would use 4.1 GiB'],
    [241, 'User memory limit exceeded: would use 4.1 GiB'],
    [241, '(total) memory limit exceeded: would use 7 GiB'],
  ])('error %i, "%s", is not its fault', (code, message) => {
    expect(codesOf(code, message)).toEqual(BOTH_UNAVAILABLE);
  });

  test.each([
    ['its password was changed', [194, 516]],
    ['the disk is full or has errors, or too many files are open', [74, 75, 76, 243]],
    ['a host is unknown or does not respond', [198, 209, 210, 279]],
    ['the server is busy or stops', [202, 236, 394, 425, 439, 473]],
    ['Keeper cannot be reached', [225, 242, 999]],
  ])('%s: ClickHouse is at fault', (_, codes) => {
    for (const code of codes) expect([code, ...codesOf(code)]).toEqual([code, ...BOTH_UNAVAILABLE]);
  });

  test.each([
    [60, 'Unknown table'],
    [81, 'Unknown database'],
    [497, 'Not enough privileges'],
  ])('error %i, "%s", is the fault of the store in a report, and of the user in a query', (code, message) => {
    expect(codesOf(code, message)).toEqual(['analytics_unavailable', 'analytics_refused']);
  });

  test.each([
    [241, '(for query) memory limit exceeded: would use 2.1 GiB'],
    [241, 'Query memory limit exceeded: would use 2.1 GiB'],
    [159, 'Timeout exceeded'],
    [160, 'Estimated query execution time (90 seconds) is too long. Maximum: 30'],
    [164, 'Cannot execute query in readonly mode'],
    [396, 'Limit for result exceeded'],
    [62, 'Syntax error'],
  ])('error %i, "%s", is its fault', (code, message) => {
    expect(codesOf(code, message)).toEqual(['analytics_refused', 'analytics_refused']);
  });
});
