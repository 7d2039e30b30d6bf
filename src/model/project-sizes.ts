/** How much data a project has. The planner estimates costs by it; the answer of a query never depends on it. */

/** What one month of a project holds. */
export interface MonthSize {
  /** The first moment of the month. */
  readonly month: Date
  /** Pageviews and other events. */
  readonly events: number
  readonly visits: number
}

/** The sizes of a project as they were read some time ago: they may be old, and are never exact. */
export interface ProjectSizes {
  /** When they were read. The month of this moment is not over. */
  readonly readAt: Date
  /** Each month at most once. A month without data may be missing. */
  readonly months: readonly MonthSize[]
  /** How many rows a month has in rollups, by their `dimension`: about the number of its values. */
  readonly values: ReadonlyMap<string, number>
}
