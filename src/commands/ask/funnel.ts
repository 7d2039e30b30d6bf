/** The command `tallyhouse ask funnel`. */
import { InvalidArgumentError } from 'commander'
import { appendValue, omitUndefined } from '../shared/options.js'
import { addOperation } from './add-operation.js'
import { buildSharedBody } from './build-body.js'
import type { SharedOptions } from './options.js'
import { parseFilter } from './parse-filter.js'

interface FunnelOptions extends SharedOptions {
  readonly step?: readonly string[]
  readonly within?: string | number
  readonly timeZone?: string
}

const SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400 }

export const addFunnel = addOperation<FunnelOptions>({
  name: 'funnel',
  description: 'Count the users who go through steps, one after the other',
  path: '/v1/analytics/funnel',
  period: '30days',
  addOptions: (command) =>
    command
      .option('--step <filter>', 'Step, as --filter; give 2 to 10 in order', appendValue)
      .option('--within <time>', 'Time for all steps: visit, or such as 30m, 12h, 7d', parseWindow),
  hasTimeZone: true,
  buildBody: (options) => buildFunnelBody(options),
})

/**
 * Parses the time that steps may take: `visit`, or a number with a unit, which is returned in seconds.
 *
 * @throws InvalidArgumentError
 */
export function parseWindow(text: string): string | number {
  if (text === 'visit') return text
  const { count, unit } = /^(?<count>[1-9]\d{0,8})(?<unit>[smhd])$/.exec(text)?.groups ?? {}
  if (count !== undefined && unit !== undefined) return Number(count) * (SECONDS[unit] ?? 1)
  throw new InvalidArgumentError('Expected visit, or a time such as 90s, 30m, 12h or 7d.')
}

/** @throws UserError for a filter of another form */
export const buildFunnelBody = (options: Omit<FunnelOptions, 'format'>): object =>
  omitUndefined({
    steps: (options.step ?? []).map((step) => ({ filters: [parseFilter(step)] })),
    within: options.within,
    time_zone: options.timeZone,
    ...buildSharedBody(options),
  })
