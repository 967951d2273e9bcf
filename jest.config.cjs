const toCommonjs = [
  '@swc/jest',
  { jsc: { parser: { syntax: 'typescript' }, target: 'es2022' }, module: { type: 'commonjs' } },
];

/** @type {import('jest').Config} */
module.exports = {
  testMatch: ['<rootDir>/{packages,services,tests}/**/*.test.ts'],
  modulePathIgnorePatterns: ['<rootDir>/.cache/', '<rootDir>/dist/', '<rootDir>/data/'],
  transform: {
    '^.+\\.ts$': toCommonjs,
    'node_modules/temporal-.+\\.js$': toCommonjs,
  },
  // This package has only ES modules, which Jest cannot load on Node 20, so it is transformed.
  transformIgnorePatterns: ['/node_modules/(?!temporal-)'],
  // The time limit of a test in milliseconds. Tests poll until a condition is true, which takes long on a busy machine.
  testTimeout: 180_000,
  testEnvironment: '<rootDir>/scripts/patient-environment.cjs',
  globalSetup: '<rootDir>/infra/local/install-for-ci.mjs',
  reporters: ['default', '<rootDir>/scripts/print-skipped.cjs'],
  testSequencer: '<rootDir>/scripts/longest-first.cjs',
  maxWorkers: 2,
};
