/** The page about errors names every code, and the messages that it quotes are those of the service. */
import { expect, test } from '@jest/globals'
import { ERROR_STATUS } from '../../../src/contract/errors.js'
import { echoApp, send } from '../contract-app.js'
import { readDoc, readTables } from './served-pages.js'

const page = readDoc('errors')
const tables = readTables(page)
const echo = echoApp()

test('each code has a row with its status, and a section with cause and cure', () => {
  const rows = tables.flatMap(([code = '', status]) => {
    const name = /^\[`([A-Z_]+)`\]/.exec(code)?.[1]
    return name === undefined ? [] : [[name, Number(status)]]
  })
  expect(Object.fromEntries(rows)).toEqual(ERROR_STATUS)
  const sections = page.split(/^## /m).slice(1)
  expect(sections.map((section) => section.split('\n')[0])).toEqual(Object.keys(ERROR_STATUS))
  expect(sections.filter((section) => !/\*\*Cause\.\*\*[^]+\*\*Cure\.\*\*/.test(section))).toEqual(
    [],
  )
})

const slips = tables.filter(([sent = '']) => sent.startsWith('`"'))

test.each(slips)('%s gets a message that begins as on the page', async (sent, message) => {
  const body = JSON.parse(`{ "date_range": "today", ${sent.slice(1, -1)} }`) as object
  const { status, faults } = await send(echo, body)
  expect(status).toBe(400)
  const [{ field, message: text }] = faults as readonly [{ field: string; message: string }]
  expect(faults).toHaveLength(1)
  expect(`${field} ${text}`.slice(0, message.length - 2)).toBe(message.slice(1, -1))
})

test('the page quotes some slips', () => expect(slips.length).toBeGreaterThan(4))
