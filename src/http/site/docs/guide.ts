/** Serves the pages of the documentation, as HTML and as Markdown, and the list of them for language models. */
import type { RouteTable } from '../../server/routes.js'
import { readAsset, sendText } from '../assets.js'
import { buildPages, type BuiltPage } from './build-pages.js'
import { REFERENCES } from './page-list.js'
import { pageHeaders } from './page-headers.js'

const MARKDOWN = 'text/markdown; charset=utf-8'

/** Builds the routes. All files are read now, so that a missing one is noticed at the start. They need no key. */
export function buildGuideRoutes(): RouteTable {
  const pages = buildPages()
  return {
    ...Object.fromEntries(
      pages.flatMap(({ page, html, markdown }) => [
        [page.path, { get: [pageHeaders, sendText('html', html)] }],
        [page.markdownPath, { get: [pageHeaders, sendText(MARKDOWN, markdown)] }],
      ]),
    ),
    '/docs/guide.css': { get: [pageHeaders, sendText('css', readAsset('guide.css'))] },
    '/docs/guide.js': { get: [pageHeaders, sendText('js', readAsset('guide.js'))] },
    '/llms.txt': { get: [pageHeaders, sendText(MARKDOWN, formatLlmsTxt(pages))] },
  }
}

/** Formats the list of all pages as llmstxt.org describes it. */
function formatLlmsTxt(pages: readonly BuiltPage[]): string {
  const lines = pages.map(
    ({ page, title, summary }) => `- [${title}](${page.markdownPath}): ${summary}`,
  )
  return [
    '# Tallyhouse',
    '',
    '> A web-analytics service. Sites send events, programs query exact numbers about them over HTTP.',
    '',
    '## Docs',
    '',
    ...lines,
    '',
    '## Contracts',
    '',
    ...Object.entries(REFERENCES).map(
      ([file, { title }]) =>
        `- [${title}](${file.replace('openapi/', '/')}): OpenAPI 3.1, also as .json`,
    ),
    '',
  ].join('\n')
}
