/** The tools of language models that have an admin key: the operations of management that read. */
import { ACROSS } from '../../analytics/across/operation.js'
import type { ToolDefinition } from '../../mcp/tools.js'

const PROJECTS = '/v1/projects'
const PROJECT = `${PROJECTS}/{id}`

const read = (name: string, path: string, hint: string): ToolDefinition => ({
  name,
  method: 'get',
  path,
  hasParameters: true,
  hint,
})

export const MANAGEMENT_TOOLS: readonly ToolDefinition[] = [
  read('projects', PROJECTS, 'Start here if you do not know the id of a project.'),
  read('project', PROJECT, 'How a project is set up.'),
  read(
    'status',
    `${PROJECT}/status`,
    'Whether the events of a project arrive, and what to do if they do not.',
  ),
  {
    name: 'query_projects',
    method: 'post',
    path: ACROSS.path,
    hint: 'Compares the traffic of several projects, or of all.',
  },
  read('usage', '/v1/usage', 'What projects used, such as for invoices.'),
  read('keys', `${PROJECT}/keys`, 'Which API keys a project has.'),
  read('notes', `${PROJECT}/notes`, 'What happened to a project, such as deployments.'),
  read('goals', `${PROJECT}/goals`, 'What counts as a conversion in a project.'),
  read('goal', `${PROJECT}/goals/{name}`, 'One of these, by its name.'),
  read('segments', `${PROJECT}/segments`, 'Which named filters a project has.'),
  read('segment', `${PROJECT}/segments/{name}`, 'One of these, by its name.'),
  read(
    'imports',
    `${PROJECT}/imports`,
    'Which files were imported, and what became of their rows.',
  ),
  read('changes', '/v1/audit-log', 'Who changed what.'),
  read('operation', '/v1/operations/{id}', 'How far an operation is, by its id.'),
]
