/** Every error code is produced by a test of the service over HTTP, which names it in its title. */
import { expect, test } from '@jest/globals'
import { readdirSync, readFileSync } from 'node:fs'
import { ERROR_STATUS } from '../../src/contract/errors.js'
import { packagePath } from '../../src/lib/package-path.js'

const tests = ['http', 'management']
  .map((name) => packagePath(`test/integration/${name}`))
  .flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.test.ts'))
      .map((name) => readFileSync(`${folder}/${name}`, 'utf8')),
  )
  .join('\n')

test.each(Object.keys(ERROR_STATUS))('%s is produced by a test', (code) => {
  expect(tests).toMatch(new RegExp(`test[^\\n]*\\b${code}\\b|'${code}'`))
})
