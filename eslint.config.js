import js from '@eslint/js'
import tseslint from 'typescript-eslint'

/** Forbids importing what matches `patterns` in `files`: the rules of dependency of the README. */
const forbid = (files, patterns, ignores = []) => ({
  files,
  ignores,
  rules: { '@typescript-eslint/no-restricted-imports': ['error', { patterns }] },
})

const EXPRESS = {
  group: ['express', 'express-*'],
  message: 'Only src/http and src/bootstrap/app.ts know Express.',
}
const CLIENT = {
  group: ['@clickhouse/client', '**/clickhouse/*', '!**/clickhouse/sql.js'],
  message: 'analytics/ is handed `run`; it imports no client.',
}
const GENERATED = {
  group: ['**/generated/*'],
  message: 'Import the short names of src/contract/api.ts and src/contract/collector-api.ts.',
}

export default tseslint.config(
  { ignores: ['dist/', 'generated/', 'data/', 'coverage/', 'test/integration/client/sample.ts'] },
  js.configs.recommended,
  tseslint.configs.strictTypeChecked,
  tseslint.configs.stylisticTypeChecked,
  {
    languageOptions: {
      parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname },
    },
    rules: {
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
    ignores: ['src/cli.ts'],
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
  forbid(
    ['src/**'],
    [EXPRESS, GENERATED],
    [
      'src/http/**',
      'src/bootstrap/app.ts',
      'src/contract/api.ts',
      'src/contract/collector-api.ts',
      'src/analytics/**',
    ],
  ),
  forbid(['src/analytics/**'], [EXPRESS, GENERATED, CLIENT]),
  forbid(['src/http/**', 'src/bootstrap/app.ts'], [GENERATED]),
  {
    files: ['**/*.js'],
    ...tseslint.configs.disableTypeChecked,
  },
  {
    files: ['test/**', 'bench/**'],
    rules: { '@typescript-eslint/no-non-null-assertion': 'off' },
  },
)
