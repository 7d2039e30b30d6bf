import js from '@eslint/js'
import tseslint from 'typescript-eslint'

/**
 * The rooms of src/, in the order in which they build on each other: a room imports from rooms before it, never
 * from one after it. `except` names the rooms before it that it has no business with.
 */
const ROOMS = [
  { room: 'lib' },
  { room: 'telemetry' },
  { room: 'contract' },
  { room: 'explorer', except: ['telemetry'] },
  { room: 'mcp', except: ['telemetry'] },
  { room: 'clickhouse' },
  { room: 'config', except: ['contract'] },
  { room: 'model', except: ['config'] },
  { room: 'changes', except: ['contract', 'config'] },
  { room: 'analytics', except: ['config', 'changes'] },
  { room: 'rollups', except: ['config', 'analytics'] },
  { room: 'projects', except: ['config', 'changes', 'analytics', 'rollups'] },
  { room: 'cluster', except: ['config', 'changes', 'analytics', 'rollups'] },
  { room: 'auth', except: ['config', 'changes', 'analytics', 'rollups', 'model'] },
  { room: 'ingest', except: ['config', 'analytics', 'auth'] },
  { room: 'deletion', except: ['config', 'analytics', 'auth'] },
  { room: 'relocation', except: ['config', 'analytics', 'auth'] },
  { room: 'management', except: ['config', 'changes', 'analytics', 'rollups'] },
  { room: 'usage', except: ['config', 'analytics', 'auth', 'management'] },
  {
    room: 'demo',
    except: ['config', 'analytics', 'auth', 'deletion', 'relocation', 'management', 'usage'],
  },
  { room: 'http', except: ['config', 'rollups', 'deletion', 'relocation'] },
  { room: 'bootstrap' },
  { room: 'commands' },
]

/** Libraries that only some rooms may know. */
const EXPRESS = {
  regex: '^express($|-)',
  message: 'Only src/http and src/bootstrap know Express.',
}
const CLIENT = {
  regex: '^@clickhouse/client$',
  message: 'Only src/clickhouse knows the client; other rooms are handed a Connection.',
}
const GENERATED = {
  regex: '/generated/',
  message: 'Import the short names of src/contract/api.ts and src/contract/collector-api.ts.',
}
const METRICS = {
  regex: '^(prom-client|@opentelemetry/)',
  message: 'Only src/telemetry knows the libraries of metrics and traces; other rooms call hooks.',
}
const MCP = {
  regex: '^@modelcontextprotocol/',
  message: 'Only src/mcp knows the protocol; other rooms pass it what runs a tool.',
}
const LIBRARIES = [
  { known: ['http', 'bootstrap'], rule: EXPRESS },
  { known: ['clickhouse'], rule: CLIENT },
  { known: ['telemetry'], rule: METRICS },
  { known: ['mcp'], rule: MCP },
]

const DATABASE = {
  regex: '^(\\.\\./)+clickhouse/(?!sql\\.js$)',
  message:
    'This room writes SQL and is handed what runs it: of clickhouse/ it imports sql.js alone.',
}

/** What a room may not import, as patterns of import specifiers. */
function forbiddenImports(room, except = []) {
  const after = ROOMS.slice(ROOMS.findIndex((one) => one.room === room) + 1).map((one) => one.room)
  const rooms = [...after, ...except].join('|')
  return [
    ...(rooms === ''
      ? []
      : [
          {
            regex: `^(\\.\\./)+(${rooms})/`,
            message: `${room}/ imports only from rooms that it builds on: see src/README.md.`,
          },
        ]),
    ...LIBRARIES.filter(({ known }) => !known.includes(room)).map(({ rule }) => rule),
    ...(room === 'contract' || room === 'explorer' ? [] : [GENERATED]),
    ...(room === 'analytics' || room === 'model' ? [DATABASE] : []),
  ]
}

const arrows = ROOMS.map(({ room, except }) => ({
  files: [`src/${room}/**/*.{ts,tsx}`],
  rules: {
    '@typescript-eslint/no-restricted-imports': [
      'error',
      { patterns: forbiddenImports(room, except) },
    ],
  },
}))

export default tseslint.config(
  {
    ignores: [
      'dist/',
      'data/',
      'coverage/',
      'clients/generators/',
      'clients/typescript/dist*/',
      'test/integration/client/sample.ts',
    ],
  },
  js.configs.recommended,
  tseslint.configs.strictTypeChecked,
  tseslint.configs.stylisticTypeChecked,
  {
    languageOptions: {
      parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname },
    },
    rules: {
      'no-duplicate-imports': 'error',
      '@typescript-eslint/consistent-type-definitions': 'off',
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
      '@typescript-eslint/switch-exhaustiveness-check': 'error',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_' }],
    },
  },
  {
    files: ['src/**'],
    ignores: ['src/config/config.ts'],
    rules: {
      'no-restricted-properties': [
        'error',
        {
          object: 'process',
          property: 'env',
          message: 'The environment is read in src/config/config.ts.',
        },
      ],
    },
  },
  {
    files: ['src/**'],
    ignores: ['src/cli.ts', 'src/explorer/main.tsx', 'src/http/site/browser/pageleave/tally-*.ts'],
    rules: {
      'no-restricted-syntax': [
        'error',
        {
          selector: 'NewExpression[callee.name="Date"][arguments.length=0]',
          message: 'The clock is read where the process starts and handed down as now().',
        },
        {
          selector: 'CallExpression[callee.object.name="Date"][callee.property.name="now"]',
          message: 'The clock is read where the process starts and handed down as now().',
        },
      ],
    },
  },
  ...arrows,
  {
    files: ['src/**/*.{ts,tsx}'],
    rules: {
      'max-lines': ['error', { max: 400 }],
      'max-lines-per-function': ['error', { max: 60 }],
    },
  },
  {
    files: ['**/*.js', '**/*.mjs'],
    ...tseslint.configs.disableTypeChecked,
  },
  {
    files: ['test/**', 'bench/**'],
    rules: { '@typescript-eslint/no-non-null-assertion': 'off' },
  },
  {
    // Written by openapi-typescript; the union of known error codes and `string` is for readers.
    files: ['generated/**'],
    rules: {
      '@typescript-eslint/consistent-indexed-object-style': 'off',
      '@typescript-eslint/no-redundant-type-constituents': 'off',
    },
  },
)
