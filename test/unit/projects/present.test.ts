/** presentProject(): a stored project as the API returns it. */
import { expect, test } from '@jest/globals'
import { presentProject } from '../../../src/projects/present.js'
import { toStoredProject } from '../../support/world/stored-project.js'

const project = toStoredProject({
  id: 'shop',
  name: 'Shop',
  domain: 'shop.example',
  token: 'tallypub_x',
  createdAt: new Date('2026-01-02T03:04:05.006Z'),
  hasPublicDashboard: true,
  excludedIps: ['192.0.2.1'],
  excludedCountries: ['KP'],
  retentionDays: 90,
})

test.each([
  [null, 'null'],
  [new Date('2026-02-01T00:00:00Z'), '"2026-02-01T00:00:00.000Z"'],
])('fields are in the order of the contract, with the first event at %s', (first, shown) => {
  expect(JSON.stringify(presentProject(project, first))).toBe(
    `{"id":"shop","name":"Shop","domain":"shop.example","token":"tallypub_x","createdAt":"2026-01-02T03:04:05.006Z","firstEventAt":${shown},"hasPublicDashboard":true,"excludedIps":["192.0.2.1"],"excludedCountries":["KP"]}`,
  )
})

test('a time zone is the last field; without one there is none', () => {
  const { timeZone, ...others } = presentProject({ ...project, timeZone: 'Asia/Kolkata' }, null)
  expect(timeZone).toBe('Asia/Kolkata')
  expect(others).toEqual(presentProject(project, null))
})
