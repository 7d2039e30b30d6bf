/** What a tool declares. All else about it is derived from the operation of the contract. */

/** A tool for models. */
export interface ToolDefinition {
  readonly name: string
  /** The operation of the contract that it runs. */
  readonly method: 'get' | 'post'
  readonly path: string
  /** Whether its arguments are the parameters of the operation, in the path and in the query string. A GET without them has none. */
  readonly hasParameters?: true
  /** When to use it; the description of the operation follows. */
  readonly hint: string
  /** The operations that the argument `operation` chooses from, by its values. The first one is that of `path`, and the default. */
  readonly choices?: Readonly<Record<string, ToolOperation>>
}

/** What a call runs. */
export interface ToolOperation {
  readonly name: string
  /** With the query string, if the call has parameters. */
  readonly path: string
  /** The parameters of the call, by their names. */
  readonly parameters?: Readonly<Record<string, unknown>>
}

const ERRORS = [
  'A call that fails says why in `error`: its code, a message and, if arguments are not valid, each of them in `details`. Correct them and call again.',
  'The resources are the documentation of the service: recipes, concepts, errors and limits.',
]

/** What models are told about the tools of management. */
export const MANAGEMENT_INSTRUCTIONS = [
  'The projects of a service, or of an organization of it: their settings, keys, usage and state. The tools only read.',
  'Times are UTC. A list comes in pages: call again with `cursor`, the `nextCursor` of the page before.',
  'Users do not add up over projects.',
  ...ERRORS,
].join('\n')

/** What models are told about the tools of a project. */
export const INSTRUCTIONS = [
  'Exact numbers about the traffic of one project, the one that the API key belongs to. The tools only read.',
  'Days are those of `time_zone`, by default of the time zone of the project, which is UTC unless the tool `project` says otherwise. Both ends of a period are included.',
  'Users do not add up, neither over rows nor over buckets: ask for the total without `group_by`, or with `include.totals`.',
  'A missing attribute is the empty string, in rows as in filters.',
  ...ERRORS,
].join('\n')
