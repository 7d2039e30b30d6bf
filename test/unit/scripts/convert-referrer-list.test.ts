import { expect, test } from '@jest/globals'
import { convertLists } from '../../../scripts/convert-referrer-list.js'

const ASSISTANTS = `
Helper:
  - helper.example.com
  - x.com/i/helper
`
const SOCIALS = `
Friends%2B:
  - x.com
  - www.x.com
  - m.x.com
  - shared.example.com
"Old: $friends":
  - friends.example.org
`
const SEARCH_ENGINES = `
Finder:
  -
    urls:
      - www.finder.com
      - finder.{}
      - finder.de
      - '{}.finder.com'
      - de.finder.com
      - finder.com/pictures
      - shared.example.com
    params:
      - q
  -
    urls:
      - android-app//com.finder/https/finder.com
      - alone.example.com/search/
Helper search:
  -
    urls:
      - helper.example.com
    params: []
Nothing:
  -
    params: []
`

test('the files become lines of names and patterns, by kind', () => {
  const files = { assistants: ASSISTANTS, socials: SOCIALS, searchEngines: SEARCH_ENGINES }
  const [head, body] = convertLists(files, '1.2.3').split('export const REFERRER_LIST')
  expect(head).toContain('searchengine-and-social-list, version 1.2.3, CC0-1.0')
  expect(head).toContain("export const LIST_VERSION = '1.2.3'")
  expect(body).toBe(` = {
  llm: \`
Helper: helper.example.com x.com/i/helper
\`,
  social: \`
Friends+: shared.example.com x.com
Old friends: friends.example.org
\`,
  search: \`
Finder: alone.example.com/search finder.{} {}.finder.com
\`,
} as const
`)
})

test('the same files make the same text', () => {
  const files = { assistants: ASSISTANTS, socials: SOCIALS, searchEngines: SEARCH_ENGINES }
  expect(convertLists(files, '1.2.3')).toBe(convertLists(files, '1.2.3'))
})
