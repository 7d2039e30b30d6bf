/** Resolves the links of a page's Markdown, which are relative to its file in the package. */
import path from 'node:path'
import { PAGES, REFERENCES, type Page } from './page-list.js'

/** What a link leads to: an address that is served, or a file that only the repository has. */
export type Target =
  | { readonly kind: 'served'; readonly href: string }
  | { readonly kind: 'repository'; readonly file: string }

/** Which form of a page links lead to: the rendered page, or its Markdown. */
export type Form = 'path' | 'markdownPath'

/** Resolves a link of the file `from`, such as `limits.md#rows`, `../CHANGELOG.md` or `https://clickhouse.com`. */
export function resolveLink(href: string, from: Page, form: Form): Target {
  if (/^[a-z]+:|^#/i.test(href)) return { kind: 'served', href }
  const { file, fragment } = resolveFile(href, from)
  const page = PAGES.find((one) => one.file === file)?.[form] ?? REFERENCES[file]?.path
  if (page === undefined) return { kind: 'repository', file }
  return { kind: 'served', href: fragment === undefined ? page : `${page}#${fragment}` }
}

/** Resolves a relative link to a file of the package, and a heading in it. Pictures are such files, and not served. */
export function resolveFile(
  href: string,
  from: Page,
): { readonly file: string; readonly fragment: string | undefined } {
  const [target = '', fragment] = href.split('#')
  return { file: path.posix.join(path.posix.dirname(from.file), target), fragment }
}

/** A link such as `[limits](limits.md#rows)`, or a picture such as `![the page](images/page.png)`. */
const INLINE_LINK = /!?\[([^\]]+)\]\(([^)\s]+)\)/g

/** Returns Markdown whose links lead to served addresses. Links to files of the repository, and its pictures, become their text. */
export const rewriteLinks = (markdown: string, from: Page): string =>
  markdown.replace(INLINE_LINK, (_, text: string, href: string) => {
    const target = resolveLink(href, from, 'markdownPath')
    return target.kind === 'served' ? `[${text}](${target.href})` : `${text} (\`${target.file}\`)`
  })
