/** Native ES modules; swc strips the types. `npm run test:jest` sets --experimental-vm-modules. */
import { env } from 'node:process'

/** `TESTS` selects one of the three classes of test files. Without it, all run, or those that are named on the command line. */
const CLASSES = {
  fast: { testPathIgnorePatterns: ['\\.(slow|thorough)\\.test\\.ts$'] },
  slow: { testMatch: ['**/*.slow.test.ts'] },
  thorough: { testMatch: ['**/*.thorough.test.ts'] },
}

export default {
  testEnvironment: 'node',
  roots: ['<rootDir>/test'],
  testMatch: ['**/*.test.ts'],
  ...CLASSES[env.TESTS],
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
