/** The files of src/ and what each imports, type imports included. */
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { packagePath } from '../../../src/lib/package-path.js'

/** Maps each node to the nodes that it points to. */
export type Graph = ReadonlyMap<string, readonly string[]>

const RELATIVE_IMPORT = /\bfrom '(\.{1,2}\/[^']+)\.js'/g
const EXTENSIONS = ['.ts', '.tsx']

/** Lists the TypeScript files of src/, as paths from there: `clickhouse/sql.ts`. */
export const listSources = (): readonly string[] =>
  readdirSync(packagePath('src'), { recursive: true, encoding: 'utf8' })
    .filter((name) => EXTENSIONS.includes(path.extname(name)))
    .sort()

/** The imports of src/, file by file; files outside of src/ are left out. */
export function readImports(): Graph {
  const sources = listSources()
  const known = new Set(sources)
  return new Map(
    sources.map((file) => {
      const text = readFileSync(packagePath(`src/${file}`), 'utf8')
      const targets = [...text.matchAll(RELATIVE_IMPORT)].map(([, specifier = '']) =>
        path.posix.join(path.posix.dirname(file), specifier),
      )
      return [
        file,
        targets.flatMap((target) =>
          EXTENSIONS.map((end) => target + end).filter((name) => known.has(name)),
        ),
      ]
    }),
  )
}

/** The same imports, folder by folder. */
export function foldersOf(imports: Graph): Graph {
  const folders = new Map<string, Set<string>>()
  for (const [file, targets] of imports) {
    const from = path.posix.dirname(file)
    const to = folders.get(from) ?? new Set()
    folders.set(from, to)
    for (const target of targets) {
      const folder = path.posix.dirname(target)
      if (folder !== from) to.add(folder)
    }
  }
  return new Map([...folders].map(([from, to]) => [from, [...to]]))
}

/** Returns a path that leads back to its start; undefined if the graph has no cycle. */
export function findCycle(graph: Graph): readonly string[] | undefined {
  const done = new Set<string>()
  const follow = (node: string, path: readonly string[]): readonly string[] | undefined => {
    if (path.includes(node)) return [...path.slice(path.indexOf(node)), node]
    if (done.has(node)) return undefined
    for (const next of graph.get(node) ?? []) {
      const cycle = follow(next, [...path, node])
      if (cycle !== undefined) return cycle
    }
    done.add(node)
    return undefined
  }
  for (const node of graph.keys()) {
    const cycle = follow(node, [])
    if (cycle !== undefined) return cycle
  }
  return undefined
}
