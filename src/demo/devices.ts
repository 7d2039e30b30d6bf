/** The devices of the demo's visitors. */
import { createChooser, type Weighted } from './weighted.js'

export interface Device extends Weighted {
  readonly browser: string
  readonly os: string
  readonly device_type: string
}

type Row = readonly [browser: string, os: string, device_type: string, weight: number]

const ROWS: readonly Row[] = [
  ['Chrome', 'Android', 'mobile', 24],
  ['Mobile Safari', 'iOS', 'mobile', 21],
  ['Chrome', 'Windows', 'desktop', 18],
  ['Chrome', 'macOS', 'desktop', 8],
  ['Safari', 'macOS', 'desktop', 7],
  ['Edge', 'Windows', 'desktop', 6],
  ['Firefox', 'Windows', 'desktop', 3.5],
  ['Samsung Internet', 'Android', 'mobile', 3],
  ['Mobile Safari', 'iOS', 'tablet', 3],
  ['Firefox', 'Linux', 'desktop', 2],
  ['Firefox', 'Android', 'mobile', 1.2],
  ['Firefox', 'macOS', 'desktop', 1.2],
  ['Chrome', 'Android', 'tablet', 1.2],
  ['Chrome', 'Linux', 'desktop', 1],
  ['Opera', 'Windows', 'desktop', 0.6],
  ['Chrome', 'Chrome OS', 'desktop', 0.5],
]

export const chooseDevice = createChooser<Device>(
  ROWS.map(([browser, os, device_type, weight]) => ({ browser, os, device_type, weight })),
)
