/** The committed types are those of the contracts. */
import { readFile } from 'node:fs/promises'
import { expect, test } from '@jest/globals'
import { CONTRACTS, generateTypes } from '../../scripts/generate-types.js'
import { packagePath } from '../../src/lib/package-path.js'

test.each(CONTRACTS)('generated/%s.d.ts is what its contract generates', async (name) => {
  const committed = await readFile(packagePath(`generated/${name}.d.ts`), 'utf8')
  expect(committed).toBe(await generateTypes(name))
})
