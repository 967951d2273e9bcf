import { ConfigError, loadConfig } from '../src/config.ts';

function problemsOf(env: Readonly<Record<string, string>>): readonly string[] {
  try {
    loadConfig(env);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
}

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
  ])('%s is taken', (path) => {
    expect(problemsOf({ COLLECT_PATHS: path })).toEqual([expect.stringContaining(path)]);
  });

  test.each(['/t/hit', '/weir', '/weir.json', '/demonstration', '/api/v1/event'])('%s is free', (path) => {
    expect(problemsOf({ COLLECT_PATHS: path })).toEqual([]);
  });
});
