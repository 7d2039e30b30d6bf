/** What a process that serves does, by its role. */
import type { Role } from './config.js'

/** A part of the service: answering questions, or taking events. */
export type Part = 'api' | 'collector'

const PARTS: Readonly<Record<Role, ReadonlySet<Part>>> = {
  all: new Set(['api', 'collector']),
  api: new Set(['api']),
  collector: new Set(['collector']),
}

/** The parts that a role has. */
export const partsOf = (role: Role): ReadonlySet<Part> => PARTS[role]
