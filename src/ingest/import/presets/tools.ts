/** The tools whose exports can be imported, and the exports that cannot. */
import { SourceError } from '../formats/format.js'
import { GA4 } from './ga4.js'
import { MATOMO } from './matomo.js'
import type { Preset } from './preset.js'
import { UMAMI } from './umami.js'

export const TOOLS = ['umami', 'matomo', 'plausible', 'ga4'] as const
export type Tool = (typeof TOOLS)[number]

/** Null for a tool whose exports have no events. */
const PRESETS: Readonly<Record<Tool, Preset | null>> = {
  umami: UMAMI,
  matomo: MATOMO,
  plausible: null,
  ga4: GA4,
}

const TOTALS =
  'has totals per day and not events. They do not say which user did what at which time, so no user, visit or filter ' +
  'could be counted from them. The page /docs/imports lists the exports that have events'

/** The first lines of the exports of Plausible, and of the reports of GA4 and Matomo. */
const TOTALS_HEADER =
  /^(?:\xef\xbb\xbf)?(?:# ?-{5}|"?(?:date|name|label)"?,.*\b(?:visitors|nb_visits)\b)/i

/**
 * Checks that a source is not a report.
 *
 * @throws SourceError if its first bytes are those of a report
 */
export function refuseTotals(head: Buffer): void {
  if (TOTALS_HEADER.test(head.toString('latin1'))) throw new SourceError(TOTALS)
}

/**
 * Returns the preset of a tool.
 *
 * @throws SourceError for a tool whose exports have no events
 */
export function findPreset(tool: Tool): Preset {
  const preset = PRESETS[tool]
  if (preset === null) throw new SourceError(TOTALS)
  return preset
}
