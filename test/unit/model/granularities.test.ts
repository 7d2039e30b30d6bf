/** Buckets: the one that a moment lies in, and its start. */
import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { GRANULARITIES, type Granularity } from '../../../src/model/granularities.js'

describe('buckets', () => {
  test.each<[Granularity, string, string]>([
    ['minute', '2026-01-31T10:59:59.999Z', '2026-01-31T10:59:00.000Z'],
    ['15minutes', '2026-01-31T10:59:59.999Z', '2026-01-31T10:45:00.000Z'],
    ['hour', '2026-01-31T10:59:59.999Z', '2026-01-31T10:00:00.000Z'],
    ['day', '2026-01-31T10:59:59.999Z', '2026-01-31T00:00:00.000Z'],
    ['week', '2026-01-01T00:00:00.000Z', '2025-12-29T00:00:00.000Z'],
    ['week', '2026-01-04T23:59:59.999Z', '2025-12-29T00:00:00.000Z'],
    ['week', '2026-01-05T00:00:00.000Z', '2026-01-05T00:00:00.000Z'],
    ['week', '1970-01-01T00:00:00.000Z', '1969-12-29T00:00:00.000Z'],
    ['month', '2024-02-29T23:59:59.999Z', '2024-02-01T00:00:00.000Z'],
    ['quarter', '2024-02-29T23:59:59.999Z', '2024-01-01T00:00:00.000Z'],
    ['quarter', '2024-12-31T23:59:59.999Z', '2024-10-01T00:00:00.000Z'],
    ['year', '2024-12-31T23:59:59.999Z', '2024-01-01T00:00:00.000Z'],
    ['year', '0001-06-01T00:00:00.000Z', '0001-01-01T00:00:00.000Z'],
    ['month', '0099-03-15T00:00:00.000Z', '0099-03-01T00:00:00.000Z'],
  ])('%s of %s starts %s', (granularity, moment, start) => {
    const { toBucket, toStart } = GRANULARITIES[granularity]
    expect(toStart(toBucket(new Date(moment))).toISOString()).toBe(start)
  })

  test.each(Object.keys(GRANULARITIES) as Granularity[])(
    '%s: buckets cover all of time without gaps or overlaps',
    (name) => {
      const { toBucket, toStart } = GRANULARITIES[name]
      const moments = fc.date({
        min: new Date('0001-01-01'),
        max: new Date('9999-12-31'),
        noInvalidDate: true,
      })
      fc.assert(
        fc.property(moments, (moment) => {
          const bucket = toBucket(moment)
          expect(toStart(bucket).getTime()).toBeLessThanOrEqual(moment.getTime())
          expect(toStart(bucket + 1).getTime()).toBeGreaterThan(moment.getTime())
          expect(toBucket(toStart(bucket))).toBe(bucket)
        }),
      )
    },
  )
})
