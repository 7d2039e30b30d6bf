/** Merges the contracts into one document, for tools that import a single one. */
import { isDeepStrictEqual } from 'node:util'
import { isRecord, mapRecord } from '../lib/records.js'
import type { SpecDocument, SpecName, Specs } from './spec.js'

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

/** The contracts in their order, and what stands before the name of a component that an earlier one has and defines differently. */
const PREFIXES: Readonly<Record<SpecName, string>> = {
  openapi: '',
  collector: 'Collector',
  management: 'Management',
}

/** Returns one document with the operations of all contracts. Components that several define alike are shared. */
export const mergeDocuments = (specs: Specs): SpecDocument =>
  Object.entries(PREFIXES)
    .map(([name, prefix]) => ({ document: specs[name as SpecName].document, prefix }))
    .reduce((merged, { document, prefix }) => ({
      document: mergeTwo(merged.document, document, prefix),
      prefix,
    })).document

function mergeTwo(first: SpecDocument, second: SpecDocument, prefix: string): SpecDocument {
  const one = first as unknown as Document
  const other = second as unknown as Document
  const different = findDifferent(one.components, other.components)
  const renamed = rename(other, different, prefix) as Document
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
  const shared = Object.entries(omitSchemes(other)).flatMap(([kind, named]) =>
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

/** Operations name security schemes without a reference, so one name is one scheme in all contracts. */
const omitSchemes = ({ securitySchemes: _, ...components }: Components): Components => components

const isReference = (value: unknown): value is string =>
  typeof value === 'string' && value.startsWith('#/components/')

function listReferences(node: unknown): readonly string[] {
  if (isReference(node)) return [node]
  return typeof node === 'object' && node !== null
    ? Object.values(node).flatMap(listReferences)
    : []
}

/** Puts a prefix before the names of components, and wherever something refers to them. */
function rename(document: Document, references: ReadonlySet<string>, prefix: string): unknown {
  const follow = (node: unknown): unknown => {
    if (isReference(node)) {
      return references.has(node) ? node.replace(/[^/]+$/, `${prefix}$&`) : node
    }
    if (Array.isArray(node)) return node.map(follow)
    return isRecord(node) ? mapRecord(node, (_, value) => follow(value)) : node
  }
  const components = mapRecord(document.components, (kind, named) =>
    Object.fromEntries(
      Object.entries(named).map(([name, value]) => [
        references.has(`#/components/${kind}/${name}`) ? `${prefix}${name}` : name,
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
