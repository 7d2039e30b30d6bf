/** The pages that people read: complete, linked, and the same in both forms. */
import { expect, test } from '@jest/globals'
import { readdirSync } from 'node:fs'
import request from 'supertest'
import { PAGES } from '../../../src/http/site/docs/page-list.js'
import { packagePath } from '../../../src/lib/package-path.js'
import { docsApp } from './served-pages.js'

const get = (path: string) => request(docsApp).get(path)
const PATHS = PAGES.map(({ path }) => path)

test('each file of docs/ is a page, and the changelog too', () => {
  const files = readdirSync(packagePath('docs'))
    .filter((file) => file !== 'images')
    .map((file) => `docs/${file}`)
  expect(PAGES.map(({ file }) => file).sort()).toEqual([...files, 'CHANGELOG.md'].sort())
})

test.each(PATHS)(
  '%s has a heading, its place in the navigation, and no other policy',
  async (path) => {
    const { status, text, headers } = await get(path)
    expect([status, headers['content-type']]).toEqual([200, 'text/html; charset=utf-8'])
    expect(headers['content-security-policy']).toMatch(
      /^default-src 'none'; script-src 'self'; style-src 'self'; /,
    )
    // In tags only: the text of an example may have a handler.
    expect(text).not.toMatch(/<script>|<style|<[^>]*\s(?:on\w+=|style=|(?:src|srcset)="http)/)
    expect(text.match(/<h1 /g)).toHaveLength(1)
    // In the menu of narrow screens, and beside the text of wide ones.
    expect(text.split(`<a href="${path}" aria-current="page">`)).toHaveLength(3)
    for (const other of PATHS) expect(text).toContain(`<a href="${other}"`)
  },
)

/** The addresses that a page links to or loads, without those of other origins. */
const readLinks = (text: string): readonly string[] =>
  [...text.matchAll(/\s(?:href|src)="([^"]+)"/g)]
    .map(([, link = '']) => link)
    .filter((link) => !/^https?:/.test(link))

test('every link of every page leads to something, and to its heading', async () => {
  const texts = new Map<string, string>()
  const broken: string[] = []
  const waiting = ['/docs']
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    const { status, text, type } = await get(path)
    texts.set(path, text)
    if (status !== 200) broken.push(path)
    if (type !== 'text/html') continue
    const paths = readLinks(text).map((link) => link.split('#')[0]!)
    waiting.push(...paths.filter((one) => one !== '' && !texts.has(one) && !waiting.includes(one)))
  }
  for (const path of PATHS) {
    for (const link of readLinks(texts.get(path)!)) {
      const [target = '', id] = link.split('#')
      const heading = id === 'content' ? '<main id="content"' : ` id="${id ?? ''}"`
      if (id !== undefined && !texts.get(target === '' ? path : target)!.includes(heading)) {
        broken.push(`${path} -> ${link}`)
      }
    }
  }
  expect(broken).toEqual([])
  expect(PATHS.filter((path) => !texts.has(path))).toEqual([])
})

test.each(PAGES)(
  '$markdownPath is the same page as Markdown, with links that work',
  async (page) => {
    const { status, text, headers } = await get(page.markdownPath).buffer()
    expect([status, headers['content-type']]).toEqual([200, 'text/markdown; charset=utf-8'])
    expect(text).toMatch(/^# \S/)
    const links = [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => link)
    for (const link of links.filter((one) => !/^(?:https?:|#)/.test(one))) {
      await get(link.split('#')[0]!).expect(200)
    }
  },
)

test('/llms.txt lists every page, with what it is about', async () => {
  const { text } = await get('/llms.txt').expect(200).buffer()
  expect(text).toMatch(/^# Tallyhouse\n\n> \S/)
  for (const { markdownPath } of PAGES) {
    expect(text).toMatch(new RegExp(`^- \\[.+\\]\\(${markdownPath}\\): .{20,}$`, 'm'))
  }
})

test('code and tables are text, whatever they contain', async () => {
  const { text } = await get('/docs/start')
  expect(text).toContain('&lt;script defer src=&quot;http://127.0.0.1:8080/tally.js&quot;')
})
