/** What was measured of one shard, as the simulation reads it. Times are milliseconds. */
export interface Timings {
  readonly measured: string
  readonly machine: string
  /** The events of the whole project, and of the shard that was asked alone. */
  readonly events: number
  readonly partEvents: number
  readonly questions: readonly QuestionTimings[]
  readonly fanOut: readonly FanOut[]
}

/** A statement that reads nothing, over several shards that are all one engine. */
export interface FanOut {
  readonly shards: number
  /** With the work of the engine for all these shards. */
  readonly ms: number
  /** CPU time of the statement that asks, without that of the statements that answer. */
  readonly cpuMs: number
}

export interface QuestionTimings {
  readonly name: string
  /** The median over the whole project on one shard. */
  readonly wholeMs: number
  /** One shard with its part, asked alone: on an idle machine, and while it loads events. */
  readonly idle: readonly number[]
  readonly loading: readonly number[]
}
