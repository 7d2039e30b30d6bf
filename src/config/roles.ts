/** Lists which parts of the service each role runs. */
import type { Role } from './config.js'

/** A part of the service: `api` answers queries, `collector` accepts events. */
export type Part = 'api' | 'collector'

const PARTS: Readonly<Record<Role, ReadonlySet<Part>>> = {
  all: new Set(['api', 'collector']),
  api: new Set(['api']),
  collector: new Set(['collector']),
}

export const partsOf = (role: Role): ReadonlySet<Part> => PARTS[role]
