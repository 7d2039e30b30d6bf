/** The pages of the documentation as the service serves them, for the tests. */
import express from 'express'
import { readFileSync } from 'node:fs'
import { readSpecs } from '../../../src/contract/spec.js'
import { createDocsRouter } from '../../../src/http/site/docs/docs-router.js'
import { packagePath } from '../../../src/lib/package-path.js'

/** The documentation alone. */
export const docsApp = express().use(createDocsRouter(readSpecs()))

/** Reads a page of docs/. */
export const readDoc = (name: string): string =>
  readFileSync(packagePath(`docs/${name}.md`), 'utf8')

/** Returns the cells of all rows of all tables of a page, without the heads. */
export const readTables = (markdown: string): readonly (readonly string[])[] =>
  [...markdown.matchAll(/^\|(.+)\|\n\| ?-.*\n((?:\|.+\n)+)/gm)].flatMap(([, , rows = '']) =>
    rows
      .trimEnd()
      .split('\n')
      .map((row) =>
        row
          .slice(1, -1)
          .split('|')
          .map((cell) => cell.trim()),
      ),
  )
