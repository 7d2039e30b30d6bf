/** The committed types are those that the contracts generate. */
import { readFile } from 'node:fs/promises'
import { expect, test } from '@jest/globals'
import { MANAGEMENT_CLIENTS } from '../../scripts/generate-management-clients.js'
import {
  generatePythonModels,
  PYTHON_MODELS,
  readContract,
} from '../../scripts/generate-python-models.js'
import {
  CLIENT_DOCUMENT,
  CONTRACTS,
  generateClientDocument,
  generateTypes,
} from '../../scripts/generate-types.js'
import { packagePath } from '../../src/lib/package-path.js'

test.each(CONTRACTS)('generated/%s.d.ts is up to date with its contract', async (name) => {
  const committed = await readFile(packagePath(`generated/${name}.d.ts`), 'utf8')
  expect(committed).toBe(await generateTypes(name))
})

test('so is the document for generated clients', async () => {
  const committed = await readFile(packagePath(CLIENT_DOCUMENT), 'utf8')
  expect(committed).toBe(generateClientDocument())
})

test('so are the models of the Python client', async () => {
  const committed = await readFile(packagePath(PYTHON_MODELS), 'utf8')
  expect(committed).toBe(generatePythonModels(readContract()))
})

test.each(Object.entries(MANAGEMENT_CLIENTS))('so is %s', async (file, write) => {
  expect(await readFile(packagePath(file), 'utf8')).toBe(await write())
})
