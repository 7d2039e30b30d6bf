/** Builds the pages of the documentation: reads the Markdown of all, and lays each out with the navigation. */
import { readFileSync } from 'node:fs'
import { packagePath } from '../../../lib/package-path.js'
import type { PageResource } from '../../../mcp/pages.js'
import { escapeHtml, fillPage, readAsset } from '../assets.js'
import { rewriteLinks } from './links.js'
import { PAGE_GROUPS, PAGES, REFERENCES, type Page } from './page-list.js'
import { renderMarkdown, type RenderedPage } from './render-markdown.js'

/** A page, ready to be served in both forms. */
export interface BuiltPage {
  readonly page: Page
  readonly title: string
  readonly summary: string
  /** The whole document. */
  readonly html: string
  /** With links to served addresses. */
  readonly markdown: string
}

/** A line of the navigation. */
interface Entry {
  readonly path: string
  readonly title: string
}

type Rendered = RenderedPage & { readonly page: Page; readonly markdown: string }

/** Reads all pages. @throws Error if a file is missing, or has no heading */
const renderPages = (): readonly Rendered[] =>
  PAGES.map((page) => {
    const markdown = readFileSync(packagePath(page.file), 'utf8')
    return { ...renderMarkdown(markdown, page), page, markdown: rewriteLinks(markdown, page) }
  })

/** Returns the Markdown of all pages, by the paths at which it is served. @throws Error as `buildPages` does */
export const listMarkdownPages = (): readonly PageResource[] =>
  renderPages().map(({ page, title, summary, markdown }) => ({
    path: page.markdownPath,
    title,
    summary,
    markdown,
  }))

/** Reads and builds all pages. @throws Error if a file is missing, or has no heading */
export function buildPages(): readonly BuiltPage[] {
  const rendered = renderPages()
  const layout = readAsset('guide.html')
  return rendered.map(({ page, title, summary, html, sections, markdown }, i) => ({
    page,
    title,
    summary,
    markdown,
    html: fillPage(
      layout,
      { title, summary, markdownPath: page.markdownPath },
      {
        navigation: formatNavigation(rendered, page),
        contents: formatContents(sections),
        content: html,
        next: formatNext(rendered[i + 1]),
      },
    ),
  }))
}

/** Lists all pages and references, in groups. The current page is marked. */
function formatNavigation(rendered: readonly Rendered[], current: Page): string {
  const titles = new Map(rendered.map(({ page, title }) => [page, title]))
  const groups = PAGE_GROUPS.map(({ title, pages }) => ({
    title,
    entries: pages.map((page): Entry => ({ path: page.path, title: titles.get(page) ?? '' })),
  }))
  const references = { title: 'Reference', entries: Object.values(REFERENCES) }
  return [...groups, references]
    .map(({ title, entries }) => {
      const items = entries.map((entry) => formatEntry(entry, entry.path === current.path))
      return `<h2>${escapeHtml(title)}</h2>\n<ul>\n${items.join('\n')}\n</ul>`
    })
    .join('\n')
}

const formatEntry = ({ path, title }: Entry, isCurrent: boolean): string =>
  `<li><a href="${path}"${isCurrent ? ' aria-current="page"' : ''}>${escapeHtml(title)}</a></li>`

/** Lists what is on a page, if that is more than two sections. */
function formatContents(sections: RenderedPage['sections']): string {
  if (sections.length < 3) return ''
  const items = sections.map(({ id, title }) => `<li><a href="#${id}">${title}</a></li>`)
  return `<h2>On this page</h2>\n<ul>\n${items.join('\n')}\n</ul>`
}

const formatNext = (next: Rendered | undefined): string =>
  next === undefined
    ? ''
    : `<p class="next">Next: <a href="${next.page.path}">${escapeHtml(next.title)}</a></p>`
