/** Native ES modules; swc strips the types. `npm run test:jest` sets --experimental-vm-modules. */
import { readdirSync, readFileSync } from 'node:fs'
import { env } from 'node:process'

/**
 * Lists the test files that do only a sample of their work outside of the deep run: those that import `support/sampling.ts`.
 */
function listSampledFiles() {
  return readdirSync('test', { recursive: true })
    .filter((path) => path.endsWith('.test.ts'))
    .filter((path) => readFileSync(`test/${path}`, 'utf8').includes("/sampling.js'"))
    .map((path) => `**/test/${path}`)
}

/**
 * `*.long.test.ts` run in `make test-long`, `*.deep.test.ts` in `make test-deep`, and all others in `make test`. The deep run
 * also does what the other two leave out of a sampled file.
 */
const MATCHES = {
  long: () => ['**/*.long.test.ts'],
  deep: () => ['**/*.deep.test.ts', ...listSampledFiles()],
}
const match = MATCHES[env.TESTS]

export default {
  testEnvironment: 'node',
  roots: ['<rootDir>/test'],
  testMatch: match?.() ?? ['**/*.test.ts'],
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
