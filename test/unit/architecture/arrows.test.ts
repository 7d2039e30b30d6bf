/** eslint refuses imports against the arrows between the rooms of src/. */
import { expect, test } from '@jest/globals'
import { ESLint } from 'eslint'
import { packagePath } from '../../../src/lib/package-path.js'

const RULE = '@typescript-eslint/no-restricted-imports'

// The rule looks at specifiers alone, so the files need not exist.
const eslint = new ESLint({
  cwd: packagePath('.'),
  overrideConfig: { languageOptions: { parserOptions: { projectService: false } } },
  ruleFilter: ({ ruleId }) => ruleId === RULE,
})

/** Returns the specifiers that eslint refuses in a file of src/. */
async function listRefused(
  file: string,
  specifiers: readonly string[],
): Promise<readonly string[]> {
  const code = specifiers.map((specifier, i) => `import * as i${i} from '${specifier}'\n`).join('')
  const [result] = await eslint.lintText(code, { filePath: packagePath(`src/${file}`) })
  return (result?.messages ?? []).map(({ line }) => specifiers[line - 1] ?? '')
}

test.each([
  ['lib/bad.ts', ['../clickhouse/sql.js', '../contract/errors.js'], ['./text.js', 'node:path']],
  ['telemetry/bad.ts', ['../clickhouse/store.js'], ['prom-client', '../lib/time.js']],
  [
    'mcp/bad.ts',
    ['../http/query/operations.js', '../clickhouse/sql.js'],
    ['@modelcontextprotocol/sdk/types.js', '../contract/spec.js'],
  ],
  ['http/mcp/bad.ts', ['@modelcontextprotocol/sdk/types.js'], ['../../mcp/tools.js']],
  ['ingest/loader/worse.ts', ['prom-client', '@opentelemetry/api'], ['../../lib/time.js']],
  ['clickhouse/embedded/bad.ts', ['../../ingest/loader/loader.js'], ['../../lib/errors.js']],
  [
    'model/bad.ts',
    ['../analytics/request/query.js', '../clickhouse/store.js'],
    ['../clickhouse/sql.js', '../contract/api.js'],
  ],
  [
    'analytics/sql/bad.ts',
    ['@clickhouse/client', 'express', '../../clickhouse/connection.js', '../../rollups/check.js'],
    ['../../clickhouse/sql.js', '../../model/metrics.js', '../plan/planner.js'],
  ],
  [
    'rollups/bad.ts',
    ['../ingest/loader/loader.js', '../analytics/plan/planner.js'],
    ['../model/dimensions.js', '../clickhouse/connection.js'],
  ],
  ['ingest/loader/bad.ts', ['../../deletion/delete-user.js'], ['../../rollups/remove-users.js']],
  [
    'http/query/bad.ts',
    ['../../bootstrap/serving/app.js', '../../commands/serve.js', '../../../generated/openapi.js'],
    ['express', '../../contract/api.js'],
  ],
  ['bootstrap/bad.ts', ['../commands/serve.js'], ['../http/server/listen.js', 'express']],
])('src/%s', async (file, against, along) => {
  expect(await listRefused(file, [...against, ...along])).toEqual(against)
})
