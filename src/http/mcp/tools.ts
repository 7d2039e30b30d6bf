/** The tools of language models, in the order in which they read them: the definitions of a schema are described in the first that has them. */
import { OPERATIONS } from '../../analytics/operations/list.js'
import type { ToolDefinition, ToolOperation } from '../../mcp/tools.js'
import { PROJECT } from '../query/endpoints.js'

const CHOICES: Readonly<Record<string, ToolOperation>> = Object.fromEntries(
  OPERATIONS.flatMap(({ name, explained }) => (explained === undefined ? [] : [[name, explained]])),
)

const TOOLS: readonly ToolDefinition[] = [
  {
    name: PROJECT.name,
    method: PROJECT.method,
    path: PROJECT.path,
    hint: 'Start here if you do not know the project, or whether it has any events.',
  },
  ...OPERATIONS.flatMap(({ name, path, hint }) =>
    hint === undefined ? [] : [{ name, method: 'post' as const, path, hint }],
  ),
  {
    name: 'batch',
    method: 'post',
    path: '/v1/analytics/batch',
    hint: 'Answers several questions at once. The body of each query is the arguments of the tool that its operation names.',
  },
]

const EXPLAIN: ToolDefinition = {
  name: 'explain',
  method: 'post',
  path: '/v1/analytics/explain',
  hint: 'Shows how a response would be computed, without computing it. Pass the arguments of the tool that `operation` names; they are described there.',
  choices: CHOICES,
}

/** Returns the tools. @param withExplain whether those who look into the service want to see its plans */
export const chooseTools = (withExplain: boolean): readonly ToolDefinition[] =>
  withExplain ? [...TOOLS, EXPLAIN] : TOOLS
