import { expect, test } from '@jest/globals'
import { generateReferrerList } from '../../../scripts/generate-referrer-list.js'

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

test('the files become one row per kind and name', () => {
  const files = { assistants: ASSISTANTS, socials: SOCIALS, searchEngines: SEARCH_ENGINES }
  expect(JSON.parse(generateReferrerList(files, '1.2.3'))).toEqual({
    comment: 'Written by npm run lists: do not edit.',
    source: 'https://github.com/matomo-org/searchengine-and-social-list',
    license: 'CC0-1.0',
    version: '1.2.3',
    referrers: [
      { kind: 'llm', name: 'Helper', patterns: ['helper.example.com', 'x.com/i/helper'] },
      { kind: 'social', name: 'Friends+', patterns: ['shared.example.com', 'x.com'] },
      { kind: 'social', name: 'Old friends', patterns: ['friends.example.org'] },
      {
        kind: 'search',
        name: 'Finder',
        patterns: ['alone.example.com/search', 'finder.{}', '{}.finder.com'],
      },
    ],
  })
})

test('the same files give the same text', () => {
  const files = { assistants: ASSISTANTS, socials: SOCIALS, searchEngines: SEARCH_ENGINES }
  expect(generateReferrerList(files, '1.2.3')).toBe(generateReferrerList(files, '1.2.3'))
})
