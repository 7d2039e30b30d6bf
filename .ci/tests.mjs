/**
 * Counts the tests in what jest wrote with --json: prints how many passed and failed, and exits with 1 if one failed or none passed.
 *
 *   node tests.mjs FILE…
 */
import console from 'node:console'
import { existsSync, readFileSync } from 'node:fs'
import process from 'node:process'

const files = process.argv
  .slice(2)
  .filter((path) => existsSync(path))
  .flatMap((path) => JSON.parse(readFileSync(path, 'utf8')).testResults)
const count = ({ assertionResults }, status) =>
  assertionResults.filter((one) => one.status === status).length
// A test file that could not be run counts as one failed test.
const countFailed = (file) => count(file, 'failed') || (file.status === 'failed' ? 1 : 0)
const passed = files.reduce((sum, file) => sum + count(file, 'passed'), 0)
const failed = files.reduce((sum, file) => sum + countFailed(file), 0)
console.log(`${passed} passed, ${failed} failed`)
process.exitCode = failed > 0 || passed === 0 ? 1 : 0
