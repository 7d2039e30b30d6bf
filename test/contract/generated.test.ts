/** The committed types are those of the contract. */
import { readFile } from 'node:fs/promises'
import { expect, test } from '@jest/globals'
import { generateTypes } from '../../openapi/generate.js'
import { packagePath } from '../../src/paths.js'

test('generated/openapi.d.ts is what openapi/openapi.yaml generates', async () => {
  const committed = await readFile(packagePath('generated/openapi.d.ts'), 'utf8')
  expect(committed).toBe(await generateTypes())
})
