/** The list of the pages of the documentation, in the order in which people read them. */

/** A page: where its Markdown lies in the package, and where it is served. */
export interface Page {
  /** The path in the package, e.g. `docs/limits.md`. */
  readonly file: string
  /** The path of the rendered page, e.g. `/docs/limits`. */
  readonly path: string
  /** The path of its Markdown, e.g. `/docs/limits.md`. */
  readonly markdownPath: string
}

/** Pages that are listed together. */
interface PageGroup {
  readonly title: string
  readonly pages: readonly Page[]
}

const definePage = (name: string): Page => ({
  file: `docs/${name}.md`,
  path: `/docs/${name}`,
  markdownPath: `/docs/${name}.md`,
})

/** The first page: what there is to read. */
const HOME: Page = { ...definePage('README'), path: '/docs' }

const CHANGELOG: Page = { ...definePage('changelog'), file: 'CHANGELOG.md' }

export const PAGE_GROUPS: readonly PageGroup[] = [
  {
    title: 'Learn',
    pages: [HOME, ...['start', 'explorer', 'concepts', 'recipes', 'other-tools'].map(definePage)],
  },
  {
    title: 'Look up',
    pages: [
      'api',
      'sending',
      'script',
      'frameworks',
      'proxy',
      'imports',
      'terminal',
      'paging',
      'formats',
      'export',
      'mcp',
      'time-zones',
      'channels',
      'cookieless',
      'errors',
      'limits',
    ].map(definePage),
  },
  {
    title: 'Operate',
    pages: [...['operations', 'management', 'cluster', 'recovery'].map(definePage), CHANGELOG],
  },
]

export const PAGES: readonly Page[] = PAGE_GROUPS.flatMap(({ pages }) => pages)

/** The interactive pages of the contracts, by the file of the contract. */
export const REFERENCES: Readonly<
  Record<string, { readonly path: string; readonly title: string }>
> = {
  'openapi/openapi.yaml': { path: '/docs/reference', title: 'Queries' },
  'openapi/collector.yaml': { path: '/docs/collector', title: 'Sending events' },
  'openapi/management.yaml': { path: '/docs/management-reference', title: 'Management' },
}
