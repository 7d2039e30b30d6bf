/** A project as it is stored. */

export interface StoredProject {
  /** 1 to 64 characters of A–Z, a–z, 0–9, `_` and `-`. */
  readonly id: string
  /** The organization that it belongs to, a label; null for none. */
  readonly org: string | null
  readonly name: string
  /** A host name in lower case; an internationalized name in its ASCII form (`xn--…`). */
  readonly domain: string
  /** The IANA name of the time zone of queries that name none; null for UTC. */
  readonly timeZone: string | null
  /** The public token with which client-side code sends events. */
  readonly token: string
  readonly createdAt: Date
  readonly hasPublicDashboard: boolean
  /** The origins of pages that may show the public dashboard in a frame, such as `https://intranet.example`. */
  readonly embedOrigins: readonly string[]
  readonly excludedIps: readonly string[]
  /** Country codes of ISO 3166-1 alpha-2. */
  readonly excludedCountries: readonly string[]
  /** How many days of data the project may query, by its subscription; null for no limit. */
  readonly retentionDays: number | null
  /** How many days of data before the current one are kept; older data is deleted. Null keeps all. */
  readonly keepDays: number | null
  /** The public token before the last rotation; null if it ended at once, or the token was never rotated. */
  readonly formerToken: FormerToken | null
  /** Whether it is being deleted: its API keys and public tokens are refused. */
  readonly isDeleting: boolean
  /** Whether it may have events whose session is no longer stored, because it began on a day that expired. */
  readonly hasCutSessions: boolean
  /** The names of the shards that it lives on, in order; empty for the store of the projects alone. */
  readonly shards: readonly string[]
  /** How its events were divided before it was widened, oldest first; empty for a project that never was. */
  readonly formerWidths: readonly FormerWidth[]
  /** Whether its former shards may still have the rows of users who left for the new ones. */
  readonly isWidening: boolean
}

/** A number of shards over which the events of a project without a user id were divided, up to some day. */
export interface FormerWidth {
  readonly width: number
  /** The start of the first day (UTC) whose events are divided over more shards. */
  readonly until: Date
}

/** A former public token, with which events are accepted until a certain time. */
interface FormerToken {
  readonly token: string
  readonly until: Date
}

/** The settings of a project that a new one does not have to name. */
export const DEFAULT_SETTINGS = {
  org: null,
  timeZone: null,
  hasPublicDashboard: false,
  embedOrigins: [],
  excludedIps: [],
  excludedCountries: [],
  retentionDays: null,
  keepDays: null,
} as const satisfies Partial<StoredProject>

/** The fields that only this program sets. */
export type OwnField =
  | 'token'
  | 'formerToken'
  | 'createdAt'
  | 'isDeleting'
  | 'hasCutSessions'
  | 'shards'
  | 'formerWidths'
  | 'isWidening'

/** The fields of a project that can change after its creation. */
export type ProjectChanges = Partial<Omit<StoredProject, 'id' | OwnField>>

/** The fields of a new project; those left out have defaults. */
export type NewProject = Pick<StoredProject, 'name' | 'domain'> &
  Partial<Omit<StoredProject, OwnField>>
