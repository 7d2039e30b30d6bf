/** docs/operations.md lists every error code of both contracts with its status, cause and cure, and no other. */
import { expect, test } from '@jest/globals'
import { readFileSync } from 'node:fs'
import { ERROR_STATUS } from '../../../src/contract/errors.js'
import { packagePath } from '../../../src/lib/package-path.js'

const ROW = /^\| `([A-Z_]+)` +\| (\d{3}) +\| (\S.*?) +\| (\S.*?) +\|$/gm

test('the error codes in the docs are those of the contracts', () => {
  const docs = readFileSync(packagePath('docs/operations.md'), 'utf8')
  const listed = [...docs.matchAll(ROW)].map(([, code, status]) => [code, Number(status)])
  expect(listed).toEqual(Object.entries(ERROR_STATUS))
})

// The type of ERROR_STATUS holds the codes of the query API. Those of the collector are among them.
test('the collector has no other code', () => {
  const contract = readFileSync(packagePath('openapi/collector.yaml'), 'utf8')
  const [, list = ''] = /^ {4}ErrorCode:[^]*?enum:\n((?: +- [A-Z_]+\n)+)/m.exec(contract) ?? []
  const codes = [...list.matchAll(/[A-Z_]+/g)].map(([code]) => code)
  expect(codes.length).toBeGreaterThan(5)
  expect(Object.keys(ERROR_STATUS)).toEqual(expect.arrayContaining(codes))
})
