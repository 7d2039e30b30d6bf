/** Native ES modules; swc strips the types. `npm run test:jest` sets --experimental-vm-modules. */
import { env } from 'node:process'

/**
 * `*.long.test.ts` run in `make test-long` only, `*.deep.test.ts` in `make test-deep` only, `*.sampled.test.ts` in that and in
 * `make test`, and all others in `make test`. `make laws` runs what has a number of worlds.
 */
const MATCHES = {
  long: '**/*.long.test.ts',
  deep: '**/*.{deep,sampled}.test.ts',
  laws: '**/*.{deep,sampled}.test.ts',
}
const match = MATCHES[env.TESTS]

export default {
  testEnvironment: 'node',
  roots: ['<rootDir>/test'],
  testMatch: [match ?? '**/*.test.ts'],
  testPathIgnorePatterns: match === undefined ? ['\\.(long|deep)\\.test\\.ts$'] : [],
  extensionsToTreatAsEsm: ['.ts'],
  moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': '$1' },
  transform: {
    '^.+\\.ts$': [
      '@swc/jest',
      { jsc: { parser: { syntax: 'typescript' }, target: 'es2022' }, module: { type: 'es6' } },
    ],
  },
  globalSetup: '<rootDir>/test/support/engine/global-setup.ts',
  globalTeardown: '<rootDir>/test/support/engine/global-teardown.ts',
  // No test is about time: this only ends one that would wait forever, so tests set no shorter one.
  testTimeout: 600_000,
  // Many tests wait for leases and for processes: a third worker uses the time.
  maxWorkers: 3,
  workerIdleMemoryLimit: '1GB',
}
