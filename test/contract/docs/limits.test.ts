/** The page about limits has the numbers of the contracts and of the code. */
import { expect, test } from '@jest/globals'
import { MAX_SLICE_EVENTS } from '../../../src/analytics/export/cut-period.js'
import { MAX_BUCKETS } from '../../../src/analytics/request/buckets.js'
import { MAX_COUNTS } from '../../../src/analytics/retention/grid.js'
import { MAX_SERIES_ROWS } from '../../../src/analytics/request/then-by.js'
import { EXPORTS } from '../../../src/bootstrap/serving/read-api.js'
import { LEAST_PACE } from '../../../src/http/formats/reader-pace.js'
import { readSpecs } from '../../../src/contract/spec.js'
import { VARIABLES, type VariableName } from '../../../src/config/variables.js'
import { MAX_EVENTS_BYTES } from '../../../src/http/collect/events-body.js'
import {
  MAX_UPLOAD_BYTES,
  MAX_UPLOADS,
  STALL_MS,
} from '../../../src/http/management/receive-upload.js'
import { MAX_QUERY_BYTES } from '../../../src/http/query/query-body.js'
import { EVENT_LIMITS } from '../../../src/model/event-fields.js'
import { readDoc, readTables } from './served-pages.js'

type Bounds = Readonly<
  Record<'maxItems' | 'maximum' | 'default' | 'maxLength' | 'maxProperties', number>
>
type Schemas = Readonly<
  Record<string, Bounds & { readonly properties?: Readonly<Record<string, Bounds>> }>
>
const specs = readSpecs()
const queries = specs.openapi.document.components.schemas as unknown as Schemas
const events = specs.collector.document.components.schemas as unknown as Schemas

/** The limits without a variable, by the part of the page. A limit of the text of the contract is a pattern. */
const WANT: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  Queries: {
    'Size of the body': MAX_QUERY_BYTES,
    'Rows of an answer (`limit`)': queries['Limit']!.maximum,
    'Rows of an answer if you give no `limit`': queries['Limit']!.default,
    'Rows of a stream (`"limit": "all"`)': readText(
      { description: JSON.stringify(queries['QueryLimit']) },
      /All rows, up to ([\d,]+)/,
    ),
    'Rows that can be skipped (`offset`)': queries['Offset']!.maximum,
    'Metrics of a query': queries['Metrics']!.maxItems,
    'Conditions in `having`': queries['Having']!.maxItems,
    'Queries of a batch': queries['BatchRequest']!.properties!['queries']!.maxItems,
    'Groupings in `group_by`': queries['Groupings']!.maxItems,
    'Cohorts × intervals of a retention table': MAX_COUNTS,
    'Steps of a funnel': queries['FunnelRequest']!.properties!['steps']!.maxItems,
    'Seconds that a funnel may take (`within`)': readText(
      { description: JSON.stringify(queries['FunnelWindow']) },
      /"maximum":(\d+)/,
    ),
    'Steps of journeys (`depth`)': queries['JourneysRequest']!.properties!['depth']!.maximum,
    'Pages and events of a step of journeys (`limit`)':
      queries['JourneysRequest']!.properties!['limit']!.maximum,
    'Groupings in `then_by`': queries['ThenBy']!.maxItems,
    'Buckets of a time series': MAX_BUCKETS,
    'Series of the groups of `then_by` (`group_limit`)': queries['GroupLimit']!.maximum,
    'Rows of all these series, before `limit`': MAX_SERIES_ROWS,
    'Filters, with those inside of groups and visits': queries['Filters']!.maxItems,
    'Depth of groups and visits': readText(queries['GroupFilter'], /at most (\d+) deep/),
    'String clauses of all filters': readText(queries['Filters'], /at most (\d+) string clauses/),
    'Values of a list (`oneOf`, `noneOf`)': queries['FilterValues']!.maxItems,
    'Characters of a value': queries['FilterValue']!.maxLength,
    'Characters of a pattern (`matches`, `notMatches`)': readText(
      queries['StringOperator'],
      /at most (\d+)\s+characters/,
    ),
    "Characters of a property's name":
      queries['PropertyClause']!.properties!['property']!.maxLength,
  },
  Exports: {
    'Exports of a project at the same time': EXPORTS.perKey,
    'Exports of all projects at the same time': EXPORTS.inAll,
    'Bytes per second that the client of an export has to take while others wait':
      LEAST_PACE.bytesPerSecond,
    'Events that have to be taken within a minute': MAX_SLICE_EVENTS,
    'Events of an export that has a `limit`':
      queries['ExportRequest']!.properties!['limit']!.maximum,
    'Fields of an export (`fields`)': queries['ExportFields']!.maxItems,
  },
  Events: {
    'Size of the body': MAX_EVENTS_BYTES,
    'Events of a request': events['EventArray']!.maxItems,
    'Size of an event': EVENT_LIMITS.maxEventBytes,
    'Properties of an event': EVENT_LIMITS.maxProperties,
    "Characters of a property's name": EVENT_LIMITS.maxPropertyNameLength,
    'Characters of the name of an event': EVENT_LIMITS.maxNameLength,
    'Characters of `user_id`, `session_id` and `event_id`': EVENT_LIMITS.maxIdLength,
    'Characters of a URL': EVENT_LIMITS.maxUrlLength,
    'Characters of any other text': EVENT_LIMITS.maxStoredLength,
  },
  'Imports over HTTP': {
    'Size of a file, as it is sent': MAX_UPLOAD_BYTES,
    'Files that a service receives at one time': MAX_UPLOADS,
    'Seconds that a client may pause': STALL_MS / 1_000,
  },
  'All requests': {
    // Node's default.
    'Size of the request line and headers': 16_384,
    'Number of headers': readText({ description: readDoc('api') }, /more than (\d+) headers/),
  },
}

function readText(schema: unknown, pattern: RegExp): number {
  const [, found] = pattern.exec((schema as { readonly description: string }).description)!
  return Number(found!.replaceAll(',', ''))
}

const toNumber = (cell = ''): number => Number(cell.replace(/,| bytes$/g, ''))

const parts = readDoc('limits').split(/^## /m).slice(1)

test.each(Object.entries(WANT))('%s', (title, want) => {
  const rows = readTables(parts.find((part) => part.startsWith(`${title}\n`))!)
  expect(Object.fromEntries(rows.map(([what, value]) => [what, toNumber(value)]))).toEqual(want)
})

test('the limits that have a variable are its defaults', () => {
  const rows = parts
    .flatMap(readTables)
    .filter(([, , variable = '']) => variable.slice(1, -1) in VARIABLES)
  const shown = rows.map(([, value, variable = '']) => [variable.slice(1, -1), toNumber(value)])
  expect(shown).toHaveLength(12)
  expect(shown).toEqual(
    shown.map(([name]) => [name, Number(VARIABLES[name as VariableName].fallback)]),
  )
})
