/** @type {import('jest').Config} */
module.exports = {
  testMatch: ['<rootDir>/{packages,services,tests}/**/*.test.ts'],
  modulePathIgnorePatterns: ['<rootDir>/dist/', '<rootDir>/data/'],
  transform: {
    '^.+\\.ts$': [
      '@swc/jest',
      { jsc: { parser: { syntax: 'typescript' }, target: 'es2022' }, module: { type: 'commonjs' } },
    ],
  },
  // Tests wait until something is true; the limit is for what never becomes true, on the busiest machine.
  testTimeout: 180_000,
  maxWorkers: 2,
};
