/** Run by `npm run build`: builds the scripts, styles and pages of browsers into dist/. */
import { build, transform } from 'esbuild'
import { mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { packagePath } from '../src/lib/package-path.js'

const SOURCES = packagePath('src/http/site/browser')
const TARGETS = packagePath('dist/http/site/browser')

/** How each kind of source becomes the file that is served; other files are not served. */
const BUILDERS: Readonly<Record<string, (file: string, text: string) => Promise<void>>> = {
  '.ts': async (file, text) => writeTarget(file.replace(/\.ts$/, '.js'), await minifyScript(text)),
  '.css': async (file, text) => {
    const { code } = await transform(text, { loader: 'css', minify: true, legalComments: 'none' })
    await writeTarget(file, code)
  },
  '.html': writeTarget,
}

const EXPLORER = packagePath('src/explorer')

/** Builds all files; pages that are served meanwhile get the old ones or the new ones. */
export async function buildBrowser(): Promise<void> {
  await mkdir(TARGETS, { recursive: true })
  await Promise.all([buildExplorer(), buildPageleave(), buildPages()])
}

/** Bundles the explorer, whose source has many files. */
async function buildExplorer(): Promise<void> {
  const { outputFiles } = await build({
    entryPoints: ['main.tsx', 'explorer.css'].map((file) => path.join(EXPLORER, file)),
    outdir: TARGETS,
    write: false,
    bundle: true,
    minify: true,
    target: 'es2022',
    format: 'iife',
    charset: 'utf8',
    legalComments: 'none',
    tsconfig: path.join(EXPLORER, 'tsconfig.json'),
  })
  await Promise.all(
    outputFiles.map(({ path: file, text }) =>
      writeCompressed(`explorer${path.extname(file)}`, text),
    ),
  )
  await writeTarget('explorer.html', await readFile(path.join(EXPLORER, 'explorer.html'), 'utf8'))
}

/** How the scripts of visitors are built. */
const OF_VISITORS = {
  target: 'es2020',
  format: 'iife',
  minify: true,
  charset: 'utf8',
  legalComments: 'none',
  // Not strict: on a page that froze `history`, assignments to it are to be ignored rather than throw.
  tsconfigRaw: { compilerOptions: { alwaysStrict: false, strict: false } },
} as const

/** Bundles the scripts that measure pageviews, of which the tracking script loads one, if any. */
async function buildPageleave(): Promise<void> {
  await Promise.all(
    ['tally-vitals', 'tally-engagement'].map(async (name) => {
      const source = path.join(SOURCES, 'pageleave', `${name}.ts`)
      const { outputFiles } = await build({
        ...OF_VISITORS,
        entryPoints: [source],
        banner: { js: findLicence(await readFile(source, 'utf8')) },
        write: false,
        bundle: true,
      })
      for (const { text } of outputFiles) await writeTarget(`${name}.js`, text)
    }),
  )
}

/** Builds the files of src/http/site/browser/, each on its own. */
async function buildPages(): Promise<void> {
  const entries = await readdir(SOURCES, { withFileTypes: true })
  await Promise.all(
    entries.map(async (entry) => {
      if (!entry.isFile()) return
      const file = entry.name
      const text = await readFile(path.join(SOURCES, file), 'utf8')
      await BUILDERS[path.extname(file)]?.(file, text)
    }),
  )
}

/** Returns the licence at the top of a script: a comment that begins with `/*!`. */
const findLicence = (text: string): string => /^\/\*![^]*?\*\//.exec(text)?.[0] ?? ''

/** Strips the types and wraps the script in a function; a licence at the top (`/*!`) stays there. */
async function minifyScript(text: string): Promise<string> {
  const { code } = await transform(text, {
    ...OF_VISITORS,
    loader: 'ts',
    banner: findLicence(text),
  })
  return code
}

/** Writes a file, and beside it what is sent of it to clients that accept an encoding. */
const writeCompressed = (file: string, text: string): Promise<unknown> =>
  Promise.all([
    writeTarget(file, text),
    writeTarget(`${file}.br`, brotliCompressSync(text)),
    writeTarget(`${file}.gz`, gzipSync(text, { level: 9 })),
  ])

/** Writes a file and renames it into place, so that nobody reads half of it. */
async function writeTarget(file: string, text: string | Buffer): Promise<void> {
  const target = path.join(TARGETS, file)
  const draft = `${target}.${process.pid}`
  await writeFile(draft, text)
  await rename(draft, target)
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) await buildBrowser()
