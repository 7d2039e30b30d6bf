/** The pages of the documentation as resources, for models that want to know what an operation means. */
import {
  McpError,
  type ReadResourceResult,
  type Resource,
} from '@modelcontextprotocol/sdk/types.js'

/** A page, as Markdown. */
export interface PageResource {
  /** Where the service serves it, e.g. `/docs/limits.md`. */
  readonly path: string
  readonly title: string
  readonly summary: string
  /** Its links are paths of other pages, so they resolve to other resources. */
  readonly markdown: string
}

const MIME_TYPE = 'text/markdown'
/** "Resource not found", by the specification of the protocol. */
const NOT_FOUND = -32_002

const buildUri = ({ path }: PageResource): string => `tallyhouse://${path}`

/** Lists pages as the protocol describes resources. */
export const listPages = (pages: readonly PageResource[]): Resource[] =>
  pages.map((page) => ({
    uri: buildUri(page),
    name: page.path.slice(1),
    title: page.title,
    description: page.summary,
    mimeType: MIME_TYPE,
    size: Buffer.byteLength(page.markdown),
  }))

/** Returns the page of a URI. @throws McpError if there is none */
export function readPage(pages: readonly PageResource[], uri: string): ReadResourceResult {
  const page = pages.find((one) => buildUri(one) === uri)
  if (page === undefined) throw new McpError(NOT_FOUND, 'There is no such resource.', { uri })
  return { contents: [{ uri, mimeType: MIME_TYPE, text: page.markdown }] }
}
