/** The page about imports has every option of the command, every line of its summary, and every tool. */
import { expect, test } from '@jest/globals'
import { Command } from 'commander'
import { addImport } from '../../../src/commands/import/import.js'
import type { CommandContext } from '../../../src/commands/shared/context.js'
import { TOOLS } from '../../../src/ingest/import/presets/tools.js'
import { readDoc, readTables } from './served-pages.js'

const program = new Command()
addImport(program, {} as CommandContext)
const command = program.commands[0]!
const cells = readTables(readDoc('imports')).map(([first = '']) => first)

test('the options are those of the command', () => {
  const flags = command.options.map((option) => `\`${option.flags}\``)
  expect(cells.filter((cell) => cell.startsWith('`--'))).toEqual(expect.arrayContaining(flags))
  expect(cells.filter((cell) => cell.startsWith('`--'))).toHaveLength(flags.length)
})

test.each([...TOOLS])('%s is a tool', (tool) => {
  const row = readTables(readDoc('imports')).find(([first]) => first === '`--from <tool>`')
  expect(row?.[1]).toContain(`\`${tool}\``)
})
