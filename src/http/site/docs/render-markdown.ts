/** Renders the Markdown of a page to HTML: headings that can be linked to, and links to served pages. */
import { Marked, type RendererObject, type Token, type Tokens } from 'marked'
import { escapeHtml } from '../assets.js'
import { resolveFile, resolveLink } from './links.js'
import type { Page } from './page-list.js'

/** A heading of the second level, for the list of what is on a page. */
interface Section {
  readonly id: string
  /** As HTML. */
  readonly title: string
}

/** A page, rendered. */
export interface RenderedPage {
  /** The heading of the page, as text. */
  readonly title: string
  /** The first paragraph, as text. */
  readonly summary: string
  readonly html: string
  readonly sections: readonly Section[]
}

/** Renders a page. @throws Error if its Markdown has no heading of the first level */
export function renderMarkdown(markdown: string, page: Page): RenderedPage {
  const sections: Section[] = []
  const marked = new Marked({ renderer: createRenderer(page, (section) => sections.push(section)) })
  const tokens = marked.lexer(markdown)
  const isTitle = (token: Token): boolean => token.type === 'heading' && token.depth === 1
  const title = tokens.find(isTitle) as Tokens.Heading | undefined
  if (title === undefined) throw new Error(`${page.file} has no heading of the first level.`)
  const summary = tokens.find(({ type }) => type === 'paragraph') as Tokens.Paragraph | undefined
  return {
    title: toPlainText(title.tokens),
    summary: toPlainText(summary?.tokens ?? []).replace(/\s+/g, ' '),
    html: wrapTables(marked.parser(tokens)),
    sections,
  }
}

/** @param onSection is called with each heading of the second level */
function createRenderer(page: Page, onSection: (section: Section) => void): RendererObject {
  const createId = createIds()
  return {
    heading({ depth, tokens }) {
      const html = this.parser.parseInline(tokens)
      const id = createId(toPlainText(tokens))
      if (depth === 2) onSection({ id, title: html })
      const content = depth === 1 ? html : `${html} <a class="anchor" href="#${id}">#</a>`
      return `<h${depth} id="${id}">${content}</h${depth}>\n`
    },
    link({ href, tokens }) {
      const html = this.parser.parseInline(tokens)
      const target = resolveLink(href, page, 'path')
      return target.kind === 'served'
        ? `<a href="${escapeHtml(target.href)}">${html}</a>`
        : `<span title="${escapeHtml(target.file)}, in the repository">${html}</span>`
    },
    image({ href, text }) {
      const { file } = resolveFile(href, page)
      return `<span title="${escapeHtml(file)}, in the repository">${escapeHtml(text)}</span>`
    },
    code({ text, lang }) {
      const language = /^\w*/.exec(lang ?? '')?.[0] ?? ''
      return `<pre tabindex="0" data-language="${language}"><code>${escapeHtml(text)}\n</code></pre>\n`
    },
  }
}

/** Makes a wide table scroll, and not the page. */
const wrapTables = (html: string): string =>
  html
    .replaceAll('<table>', '<div class="table" tabindex="0"><table>')
    .replaceAll('</table>', '</table></div>')

/** Returns the text of inline Markdown, without its marks. */
const toPlainText = (tokens: readonly Token[]): string =>
  tokens
    .map((token) => ('tokens' in token ? toPlainText(token.tokens) : (token as Tokens.Text).text))
    .join('')

/** Creates a function that derives the ids of headings as GitHub does; a repeated one gets a number. */
function createIds(): (title: string) => string {
  const uses = new Map<string, number>()
  return (title) => {
    const id = title
      .toLowerCase()
      .replace(/[^\p{L}\p{N}_\- ]/gu, '')
      .replace(/ /g, '-')
    const used = uses.get(id) ?? 0
    uses.set(id, used + 1)
    return used === 0 ? id : `${id}-${used}`
  }
}
