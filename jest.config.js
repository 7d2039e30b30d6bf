/** Native ES modules; swc strips the types. `npm run test:jest` sets --experimental-vm-modules. */
export default {
  testEnvironment: 'node',
  roots: ['<rootDir>/test'],
  // `*.slow.test.ts` run in `make test-slow`, all others in `make test`.
  testMatch: ['**/*.test.ts'],
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
