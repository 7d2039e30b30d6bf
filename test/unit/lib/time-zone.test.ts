/** Time zones: what their clocks show, when their days start, and the hours of days on which clocks are changed. */
import { describe, expect, test } from '@jest/globals'
import {
  formatLocal,
  getOffset,
  isTimeZone,
  isUtc,
  listClockSteps,
  toInstant,
  toLocal,
} from '../../../src/lib/time-zone.js'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const at = (text: string): number => Date.parse(text)

test.each([
  ['Europe/Berlin', true],
  ['europe/BERLIN', true],
  ['America/Argentina/Buenos_Aires', true],
  ['Etc/GMT+5', true],
  ['UTC', true],
  ['GMT', true],
  ['EST5EDT', true],
  ['', false],
  ['Mars/Olympus', false],
  ['+05:30', false],
  ['UTC+1', false],
  ['Europe/Berlin ', false],
  ['../etc/passwd', false],
  ['constructor', false],
])('%p is a time zone: %p', (name, want) => {
  expect(isTimeZone(name)).toBe(want)
})

test.each([
  ['UTC', true],
  ['Etc/UTC', true],
  ['zulu', true],
  ['GMT', false],
  ['Africa/Abidjan', false],
  ['Etc/GMT+5', false],
])('%s is UTC itself: %p', (zone, want) => {
  expect(isUtc(zone)).toBe(want)
})

test.each([
  ['UTC', '2026-07-01T00:00:00Z', 0],
  ['Europe/London', '2026-01-01T00:00:00Z', 0],
  ['Europe/Berlin', '2026-03-29T00:59:59Z', 60],
  ['Europe/Berlin', '2026-03-29T01:00:00Z', 120],
  ['Asia/Kathmandu', '2026-01-01T00:00:00Z', 345],
  ['America/St_Johns', '2026-01-01T00:00:00Z', -210],
  ['Australia/Lord_Howe', '2026-01-01T00:00:00Z', 660],
  ['Australia/Lord_Howe', '2026-07-01T00:00:00Z', 630],
  ['Antarctica/Troll', '2026-07-01T00:00:00Z', 120],
  ['Pacific/Apia', '2011-12-30T09:59:59Z', -600],
  ['Pacific/Apia', '2011-12-30T10:00:00Z', 840],
  ['Africa/Monrovia', '1970-06-01T00:00:00Z', -44.5],
])('the offset of %s at %s', (zone, moment, minutes) => {
  expect(getOffset(zone, at(moment))).toBe(minutes * MINUTE)
  expect(toLocal(zone, new Date(moment)).getTime()).toBe(at(moment) + minutes * MINUTE)
})

describe('the first moment at which a clock shows a time or later', () => {
  test.each([
    ['an ordinary midnight', 'Asia/Kolkata', '2026-01-31T00:00', '2026-01-30T18:30:00Z'],
    ['of three quarters of an hour', 'Asia/Kathmandu', '2026-01-31T00:00', '2026-01-30T18:15:00Z'],
    ['midnight before a change', 'Europe/Berlin', '2026-03-29T00:00', '2026-03-28T23:00:00Z'],
    ['midnight after it', 'Europe/Berlin', '2026-03-30T00:00', '2026-03-29T22:00:00Z'],
    ['a skipped hour', 'Europe/Berlin', '2026-03-29T02:30', '2026-03-29T01:00:00Z'],
    ['a repeated hour', 'Europe/Berlin', '2026-10-25T02:30', '2026-10-25T00:30:00Z'],
    ['the end of a repeated hour', 'Europe/Berlin', '2026-10-25T03:00', '2026-10-25T02:00:00Z'],
    ['a repeated half hour', 'Australia/Lord_Howe', '2026-04-05T01:45', '2026-04-04T14:45:00Z'],
    ['a skipped half hour', 'Australia/Lord_Howe', '2026-10-04T02:15', '2026-10-03T15:30:00Z'],
    ['two skipped hours', 'Antarctica/Troll', '2026-03-29T02:00', '2026-03-29T01:00:00Z'],
    ['midnight skipped', 'America/Santiago', '2026-09-06T00:00', '2026-09-06T04:00:00Z'],
    ['midnight skipped', 'Africa/Cairo', '2026-04-24T00:00', '2026-04-23T22:00:00Z'],
    ['midnight repeated', 'America/Havana', '2026-11-01T00:00', '2026-11-01T04:00:00Z'],
    [
      'an hour before midnight repeated',
      'America/Santiago',
      '2026-04-05T00:00',
      '2026-04-05T04:00:00Z',
    ],
    ['a minute after midnight', 'America/St_Johns', '2010-11-07T00:00', '2010-11-07T02:30:00Z'],
    ['a skipped day', 'Pacific/Apia', '2011-12-30T00:00', '2011-12-30T10:00:00Z'],
    ['the day after it', 'Pacific/Apia', '2011-12-31T00:00', '2011-12-30T10:00:00Z'],
    ['a repeated day', 'Pacific/Kwajalein', '1969-10-01T00:00', '1969-10-01T12:00:00Z'],
    ['UTC', 'UTC', '2026-03-29T02:30', '2026-03-29T02:30:00Z'],
    ['the first year', 'Asia/Tokyo', '0001-01-01T00:00', '0000-12-31T14:41:01Z'],
  ])('%s: %s %s', (_what, zone, local, want) => {
    expect(toInstant(zone, new Date(`${local}:00Z`)).toISOString()).toBe(want.replace('Z', '.000Z'))
  })
})

describe('the quarters of an hour of a clock', () => {
  test.each<[string, string, string, readonly string[]]>([
    [
      'Asia/Kathmandu',
      '2026-01-01T00:00:00Z',
      '2026-01-01T00:30:00Z',
      ['2026-01-01T05:45:00+05:45', '2026-01-01T06:00:00+05:45'],
    ],
    [
      'Europe/Berlin',
      '2026-10-25T00:40:00Z',
      '2026-10-25T01:20:00Z',
      [
        '2026-10-25T02:30:00+02:00',
        '2026-10-25T02:45:00+02:00',
        '2026-10-25T02:00:00+01:00',
        '2026-10-25T02:15:00+01:00',
      ],
    ],
    // At 00:01 the clock was set back to 23:01 of the day before.
    [
      'America/St_Johns',
      '2010-11-07T02:30:00Z',
      '2010-11-07T02:46:00Z',
      ['2010-11-07T00:00:00-02:30', '2010-11-06T23:01:00-03:30', '2010-11-06T23:15:00-03:30'],
    ],
  ])('%s from %s to %s', (zone, from, to, want) => {
    const steps = listClockSteps(zone, 15 * MINUTE, new Date(from), new Date(to))
    expect(steps.map((ms) => formatLocal(zone, new Date(ms)))).toEqual(want)
  })
})

describe('the hours of a clock', () => {
  test.each<[string, string, string, readonly string[]]>([
    [
      'Asia/Kathmandu',
      '2026-01-01T00:00:00Z',
      '2026-01-01T02:00:00Z',
      ['2026-01-01T05:00:00+05:45', '2026-01-01T06:00:00+05:45', '2026-01-01T07:00:00+05:45'],
    ],
    [
      'Europe/Berlin',
      '2026-03-29T00:00:00Z',
      '2026-03-29T02:00:00Z',
      ['2026-03-29T01:00:00+01:00', '2026-03-29T03:00:00+02:00'],
    ],
    [
      'Europe/Berlin',
      '2026-10-25T00:00:00Z',
      '2026-10-25T02:00:00Z',
      ['2026-10-25T02:00:00+02:00', '2026-10-25T02:00:00+01:00'],
    ],
    [
      'Australia/Lord_Howe',
      '2026-04-04T14:00:00Z',
      '2026-04-04T16:30:00Z',
      ['2026-04-05T01:00:00+11:00', '2026-04-05T01:30:00+10:30', '2026-04-05T02:00:00+10:30'],
    ],
    [
      'Australia/Lord_Howe',
      '2026-10-03T14:30:00Z',
      '2026-10-03T16:30:00Z',
      ['2026-10-04T01:00:00+10:30', '2026-10-04T02:30:00+11:00', '2026-10-04T03:00:00+11:00'],
    ],
    [
      'Australia/Lord_Howe',
      '2026-04-04T15:10:00Z',
      '2026-04-04T15:20:00Z',
      ['2026-04-05T01:30:00+10:30'],
    ],
    [
      'Antarctica/Troll',
      '2026-03-29T00:30:00Z',
      '2026-03-29T01:30:00Z',
      ['2026-03-29T00:00:00+00:00', '2026-03-29T03:00:00+02:00'],
    ],
    [
      'Pacific/Apia',
      '2011-12-30T09:00:00Z',
      '2011-12-30T11:00:00Z',
      ['2011-12-29T23:00:00-10:00', '2011-12-31T00:00:00+14:00'],
    ],
  ])('%s from %s to %s', (zone, from, to, want) => {
    const hours = listClockSteps(zone, HOUR, new Date(from), new Date(to))
    expect(hours.map((ms) => formatLocal(zone, new Date(ms)))).toEqual(want)
  })
})

test.each([
  ['UTC', '2026-01-01T00:00:00Z', '2026-01-01T00:00:00+00:00'],
  ['America/St_Johns', '2026-01-01T03:30:00Z', '2026-01-01T00:00:00-03:30'],
  // Until 1972 its clocks were 44 minutes and 30 seconds behind.
  ['Africa/Monrovia', '1971-01-01T00:44:30Z', '1971-01-01T00:00:30-00:44'],
])('%s shows %s as %s, which is the same moment', (zone, moment, want) => {
  const text = formatLocal(zone, new Date(moment))
  expect(text).toBe(want)
  expect(at(text)).toBe(at(moment))
})
