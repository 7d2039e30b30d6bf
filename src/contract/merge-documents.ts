/** Merges both contracts into one document, for tools that import a single one. */
import { isDeepStrictEqual } from 'node:util'
import { isRecord, mapRecord } from '../lib/records.js'
import type { SpecDocument } from './spec.js'

type Json = Readonly<Record<string, unknown>>
type Components = Readonly<Record<string, Json>>

/** A tag, which groups operations. Its name is unique in a document. */
interface Tag {
  readonly name: string
}

/** The parts of a contract that are merged. */
interface Document {
  readonly info: { readonly description: string }
  readonly tags: readonly Tag[]
  readonly paths: Json
  readonly components: Components
}

/** Stands before the name of a component of the second contract that the first has, too, and defines differently. */
const PREFIX = 'Collector'

/** Returns one document with the operations of both. Components that both define alike are shared. */
export function mergeDocuments(first: SpecDocument, second: SpecDocument): SpecDocument {
  const one = first as unknown as Document
  const other = second as unknown as Document
  const renamed = rename(other, findDifferent(one.components, other.components)) as Document
  const merged = {
    ...one,
    info: {
      ...one.info,
      description: [one.info.description, other.info.description].join('\n\n'),
    },
    tags: mergeTags(one.tags, other.tags),
    paths: { ...one.paths, ...renamed.paths },
    components: mergeComponents(one.components, renamed.components),
  }
  return merged as unknown as SpecDocument
}

/** Lists the references of components that both documents have, and that are or contain something different. */
function findDifferent(one: Components, other: Components): ReadonlySet<string> {
  const shared = Object.entries(other).flatMap(([kind, named]) =>
    Object.entries(named)
      .filter(([name]) => one[kind] !== undefined && Object.hasOwn(one[kind], name))
      .map(([name, value]) => ({
        reference: `#/components/${kind}/${name}`,
        isEqual: isDeepStrictEqual(value, one[kind]?.[name]),
        inner: listReferences(value),
      })),
  )
  const different = new Set<string>()
  for (let known = -1; known < different.size;) {
    known = different.size
    for (const { reference, isEqual, inner } of shared) {
      if (!isEqual || inner.some((one) => different.has(one))) different.add(reference)
    }
  }
  return different
}

const isReference = (value: unknown): value is string =>
  typeof value === 'string' && value.startsWith('#/components/')

function listReferences(node: unknown): readonly string[] {
  if (isReference(node)) return [node]
  return typeof node === 'object' && node !== null
    ? Object.values(node).flatMap(listReferences)
    : []
}

/** Renames components, and everything that refers to them. */
function rename(document: Document, references: ReadonlySet<string>): unknown {
  const follow = (node: unknown): unknown => {
    if (isReference(node)) {
      return references.has(node) ? node.replace(/[^/]+$/, `${PREFIX}$&`) : node
    }
    if (Array.isArray(node)) return node.map(follow)
    return isRecord(node) ? mapRecord(node, (_, value) => follow(value)) : node
  }
  const components = mapRecord(document.components, (kind, named) =>
    Object.fromEntries(
      Object.entries(named).map(([name, value]) => [
        references.has(`#/components/${kind}/${name}`) ? `${PREFIX}${name}` : name,
        follow(value),
      ]),
    ),
  )
  return { ...(follow(document) as object), components }
}

/** A tag that both documents have is described by the first. */
const mergeTags = (some: readonly Tag[], others: readonly Tag[]): readonly Tag[] => {
  const names = new Set(some.map(({ name }) => name))
  return [...some, ...others.filter(({ name }) => !names.has(name))]
}

const mergeComponents = (one: Components, other: Components): Components =>
  Object.fromEntries(
    [...new Set([...Object.keys(one), ...Object.keys(other)])].map((kind) => [
      kind,
      { ...one[kind], ...other[kind] },
    ]),
  )
