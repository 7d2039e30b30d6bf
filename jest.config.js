/** Native ES modules, TypeScript stripped by swc; `npm test` sets --experimental-vm-modules. */
export default {
  testEnvironment: 'node',
  roots: ['<rootDir>/test'],
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
  testTimeout: 60_000,
  // Tests wait for the engine more than they work: two at once, on two cores.
  maxWorkers: 2,
  workerIdleMemoryLimit: '1GB',
}
