/**
 * Reads what jest wrote with --json. A file that ran again counts as it did the last time.
 *
 *   node tests.mjs failed FILE…   prints the paths of the test files that failed, a line each
 *   node tests.mjs count FILE…    prints how many tests passed and failed, and exits with 1 if one failed or none passed
 */
import console from 'node:console'
import { existsSync, readFileSync } from 'node:fs'
import process from 'node:process'

const [command, ...paths] = process.argv.slice(2)
const results = new Map()
for (const path of paths.filter((one) => existsSync(one))) {
  for (const file of JSON.parse(readFileSync(path, 'utf8')).testResults)
    results.set(file.name, file)
}
const files = [...results.values()]
const count = ({ assertionResults }, status) =>
  assertionResults.filter((one) => one.status === status).length

if (command === 'failed') {
  for (const { name } of files.filter(({ status }) => status === 'failed')) console.log(name)
} else {
  // A test file that could not be run counts as one failed test.
  const failedOf = (file) => count(file, 'failed') || (file.status === 'failed' ? 1 : 0)
  const passed = files.reduce((sum, file) => sum + count(file, 'passed'), 0)
  const failed = files.reduce((sum, file) => sum + failedOf(file), 0)
  console.log(`${passed} passed, ${failed} failed`)
  process.exitCode = failed > 0 || passed === 0 ? 1 : 0
}
