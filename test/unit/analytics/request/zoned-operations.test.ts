/** A time zone means the same in all operations that know one: the period of a request is that of a query. */
import { expect, test } from '@jest/globals'
import { isAnswered, OPERATIONS } from '../../../../src/analytics/operations/list.js'
import { resolveAllowedPeriod } from '../../../../src/analytics/request/allowed-period.js'
import type { DateRange } from '../../../../src/contract/api.js'
import { readSpecs } from '../../../../src/contract/spec.js'
import {
  compileOperationBodies,
  createValidateBody,
} from '../../../../src/http/validation/validate-body.js'
import { getExampleBody } from '../../../contract/document.js'

const NOW = new Date('2026-03-29T20:00:00Z')
const PROJECT = {
  ...{ id: 'shop', createdAt: new Date('2026-01-15T23:30:00Z'), shards: [] },
  ...{ retentionDays: null, keepDays: null, hasCutSessions: false, isWidening: false },
}
const ZONED = OPERATIONS.filter(({ hasTimeZone }) => hasTimeZone).filter(isAnswered)
const validate = createValidateBody(compileOperationBodies(readSpecs().openapi.document))

test.each(
  ['Europe/Berlin', 'Asia/Kathmandu', 'America/St_Johns'].flatMap((zone) =>
    (['today', '7days', 'mtd', 'all', '1hr', ['2026-03-28', '2026-03-29']] as const).map(
      (range: DateRange) => ({ zone, range }),
    ),
  ),
)('$range in $zone', ({ zone: time_zone, range: date_range }) => {
  const asked = { date_range, time_zone }
  const at = [PROJECT, null, NOW] as const
  const want = resolveAllowedPeriod(asked, ...at)
  for (const operation of ZONED) {
    const body = { ...getExampleBody(operation.path), ...asked }
    const request = validate(operation, body, { ...PROJECT, timeZone: null })
    expect([operation.name, operation.resolve(request, ...at)]).toEqual([
      operation.name,
      expect.objectContaining({ period: want }),
    ])
  }
})
