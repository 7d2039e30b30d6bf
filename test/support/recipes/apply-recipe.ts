/** Follows the recipes of CONTRIBUTING.md: applies the diffs of a section to a copy of the sources. */
import { readdir, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'

/** A part of a diff: lines that follow each other in a file, or the lines of a new file. */
interface Hunk {
  readonly file: string
  readonly before: readonly string[]
  readonly after: readonly string[]
}

/** A line that names a file, as a comment: ` # openapi/openapi.yaml`, ` // src/model/metrics.ts, some remark`. */
const FILE_LINE = /^ (?:#|\/\/|--) (?<file>\w+\/[\w./-]+\.\w+)(?:,.*)?$/

/** Reads the hunks of all diffs of a section. @throws when it has none, or a line outside of a file */
export function readRecipe(markdown: string, title: string): readonly Hunk[] {
  const section = markdown.split(/^## /m).find((one) => one.startsWith(`${title}\n`)) ?? ''
  const diffs = [...section.matchAll(/^```diff\n(?<lines>.*?)^```$/gms)]
  const hunks: { file: string; before: string[]; after: string[] }[] = []
  for (const line of diffs.flatMap(({ groups }) => groups!['lines']!.trimEnd().split('\n'))) {
    const file = FILE_LINE.exec(line)?.groups?.['file']
    if (file !== undefined) {
      hunks.push({ file, before: [], after: [] })
      continue
    }
    const hunk = hunks.at(-1)
    if (hunk === undefined || !/^[ +-]/.test(line)) throw new Error(`not a line of a diff: ${line}`)
    if (!line.startsWith('+')) hunk.before.push(line.slice(1))
    if (!line.startsWith('-')) hunk.after.push(line.slice(1))
  }
  if (hunks.length === 0) throw new Error(`CONTRIBUTING.md has no diff under "${title}"`)
  return hunks
}

/**
 * Applies hunks to the files below a folder. `NNNN` in the name of a new file becomes the next number of its folder.
 *
 * @throws when the lines before are not in the file exactly once
 */
export async function applyHunks(folder: string, hunks: readonly Hunk[]): Promise<void> {
  for (const { file, before, after } of hunks) {
    if (before.length === 0) {
      const target = path.join(folder, await numberFile(folder, file))
      await writeFile(target, `${after.join('\n')}\n`, { flag: 'wx' })
      continue
    }
    const target = path.join(folder, file)
    const text = `\n${await readFile(target, 'utf8')}`
    const parts = text.split(`\n${before.join('\n')}\n`)
    if (parts.length !== 2) {
      throw new Error(`${file} has these lines ${parts.length - 1} times:\n${before.join('\n')}`)
    }
    await writeFile(target, parts.join(`\n${after.join('\n')}\n`).slice(1))
  }
}

async function numberFile(folder: string, file: string): Promise<string> {
  const names = await readdir(path.join(folder, path.dirname(file)))
  const numbers = names.flatMap((name) => /^\d{4}(?=_)/.exec(name) ?? []).map(Number)
  return file.replace('NNNN', String(Math.max(0, ...numbers) + 1).padStart(4, '0'))
}
