/** A project, as it is stored. */

export interface StoredProject {
  /** 1 to 64 characters of A–Z, a–z, 0–9, `_` and `-`. */
  readonly id: string
  readonly name: string
  /** A host name in lower case; a name of other letters in its ASCII form (`xn--…`). */
  readonly domain: string
  /** The public token with which client-side code sends events. */
  readonly token: string
  readonly createdAt: Date
  readonly hasPublicDashboard: boolean
  readonly excludedIps: readonly string[]
  /** ISO 3166-1 alpha-2. */
  readonly excludedCountries: readonly string[]
  /** The days of data that the project's subscription lets it ask for; null is without limit. */
  readonly retentionDays: number | null
}

/** What can be changed of a project after it was made. */
export type ProjectChanges = Partial<Omit<StoredProject, 'id' | 'token' | 'createdAt'>>

/** What a new project is made of; whatever is left out has a default. */
export type NewProject = Pick<StoredProject, 'name' | 'domain'> &
  Partial<Omit<StoredProject, 'token' | 'createdAt'>>
