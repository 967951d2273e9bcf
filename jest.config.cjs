const toCommonjs = [
  '@swc/jest',
  { jsc: { parser: { syntax: 'typescript' }, target: 'es2022' }, module: { type: 'commonjs' } },
];

/** @type {import('jest').Config} */
module.exports = {
  testMatch: ['<rootDir>/{packages,services,tests}/**/*.test.ts'],
  modulePathIgnorePatterns: ['<rootDir>/dist/', '<rootDir>/data/'],
  transform: {
    '^.+\\.ts$': toCommonjs,
    'node_modules/temporal-.+\\.js$': toCommonjs,
  },
  // Published as ES modules only, which Jest can't load on Node 20.
  transformIgnorePatterns: ['/node_modules/(?!temporal-)'],
  // Tests wait until something is true; the limit is for what never becomes true, on the busiest machine.
  testTimeout: 180_000,
  globalSetup: '<rootDir>/infra/local/install-for-ci.mjs',
  reporters: ['default', '<rootDir>/scripts/print-skipped.cjs'],
  maxWorkers: 2,
};
