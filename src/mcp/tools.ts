/** The table of tools. All else about a tool is derived from the operation of the contract. */

/** A tool for models. */
export interface ToolDefinition {
  /** The operation of the contract that it runs. */
  readonly method: 'get' | 'post'
  readonly path: string
  /** When to use it; the description of the operation follows. */
  readonly hint: string
  /** The operations that the argument `operation` chooses from, by its values. The first one is that of `path`, and the default. */
  readonly choices?: Readonly<Record<string, ToolOperation>>
}

/** What a call runs. */
export interface ToolOperation {
  readonly name: OperationName
  readonly path: string
}

/** The operations of the contract that tools run. */
export type OperationName =
  | 'project'
  | 'query'
  | 'values'
  | 'retention'
  | 'funnel'
  | 'explain'
  | 'explain_retention'
  | 'explain_funnel'

/** In the order in which models read them. The definitions of a schema are described in the first tool that has them. */
export const TOOLS = {
  project: {
    method: 'get',
    path: '/v1/project',
    hint: 'Start here if you do not know the project, or whether it has any events.',
  },
  query: {
    method: 'post',
    path: '/v1/analytics/query',
    hint: 'Answers most questions about traffic. `compare` sets each row beside another period, and `include.totals` is the base of shares.',
  },
  values: {
    method: 'post',
    path: '/v1/analytics/values',
    hint: 'Use it before a filter whose exact value you do not know, such as a path, a city, or the name of an event or a property.',
  },
  retention: {
    method: 'post',
    path: '/v1/analytics/retention',
    hint: 'Answers whether users come back. The filters are those of `query`, and described there.',
  },
  funnel: {
    method: 'post',
    path: '/v1/analytics/funnel',
    hint: 'Answers how many users get from one step to the next. The filters are those of `query`, and described there.',
  },
  explain: {
    method: 'post',
    path: '/v1/analytics/explain',
    hint: 'Answers how an answer comes about, not what it is. The arguments are those of the tool that `operation` names, and described there.',
    choices: {
      query: { name: 'explain', path: '/v1/analytics/explain' },
      retention: { name: 'explain_retention', path: '/v1/analytics/retention/explain' },
      funnel: { name: 'explain_funnel', path: '/v1/analytics/funnel/explain' },
    },
  },
} as const satisfies Readonly<Record<string, ToolDefinition>>

export type ToolName = keyof typeof TOOLS

export const isToolName = (name: string): name is ToolName => Object.hasOwn(TOOLS, name)

/** What models are told about all tools. */
export const INSTRUCTIONS = [
  'Exact numbers about the traffic of one project, the one that the API key belongs to. The tools only read.',
  'Times are UTC unless `time_zone` says otherwise. Both ends of a period are included.',
  'Users do not add up, neither over rows nor over buckets: ask for the total without `group_by`, or with `include.totals`.',
  'A missing attribute is the empty string, in rows as in filters.',
  'A call that fails says why in `error`: its code, a message and, if arguments are not valid, each of them in `details`. Correct them and call again.',
  'The resources are the documentation of the service: recipes, concepts, errors and limits.',
].join('\n')
