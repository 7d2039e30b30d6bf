/** Serves the contracts as interactive pages, as JSON and as YAML. */
import { createRequire } from 'node:module'
import path from 'node:path'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { RequestHandler } from 'express'
import { dump } from 'js-yaml'
import { reduceForClients } from '../../../contract/client-document.js'
import { convertToOpenApi30 } from '../../../contract/convert-document.js'
import { mergeDocuments } from '../../../contract/merge-documents.js'
import type { Spec, SpecName, Specs } from '../../../contract/spec.js'
import { mapRecord } from '../../../lib/records.js'
import type { RouteTable } from '../../server/routes.js'
import { fillPage, readAsset, sendText } from '../assets.js'
import { pageHeaders } from './page-headers.js'

const require = createRequire(import.meta.url)
const SWAGGER_UI = path.dirname(require.resolve('swagger-ui-dist/package.json'))
const { version: SWAGGER_UI_VERSION } = require('swagger-ui-dist/package.json') as {
  readonly version: string
}

/** The files of Swagger UI that the pages load. */
const SWAGGER_UI_FILES = ['swagger-ui.css', 'swagger-ui-bundle.js', 'favicon-32x32.png']

const YAML = 'application/yaml; charset=utf-8'

/** The path of each contract's page, and of its documents without their extension, `.json` or `.yaml`. */
const PATHS = {
  openapi: { page: '/docs/reference', contract: '/openapi' },
  collector: { page: '/docs/collector', contract: '/collector' },
  management: { page: '/docs/management-reference', contract: '/management' },
} as const satisfies Readonly<Record<SpecName, { page: string; contract: string }>>

/** Builds the routes of the pages and documents. They need no key. */
export const buildReferenceRoutes = (specs: Specs): RouteTable => ({
  ...buildRoutes('openapi', specs.openapi),
  ...buildRoutes('collector', specs.collector),
  ...buildRoutes('management', specs.management),
  ...buildCopies(specs),
  '/docs/page.js': { get: [pageHeaders, sendText('js', readAsset('docs.js'))] },
  '/docs/page.css': { get: [pageHeaders, sendText('css', readAsset('docs.css'))] },
  ...Object.fromEntries(
    SWAGGER_UI_FILES.map((file) => [`/docs/${file}`, { get: [pageHeaders, sendSwagger(file)] }]),
  ),
})

function buildRoutes(name: SpecName, { yaml, document }: Spec): RouteTable {
  const { page, contract } = PATHS[name]
  const html = fillPage(readAsset('docs.html'), {
    contract,
    isQueryPage: name === 'openapi' ? 'page' : 'false',
    isCollectorPage: name === 'collector' ? 'page' : 'false',
    isManagementPage: name === 'management' ? 'page' : 'false',
  })
  return {
    [page]: { get: [pageHeaders, sendText('html', html)] },
    [`${contract}.json`]: { get: [pageHeaders, sendText('json', JSON.stringify(document))] },
    [`${contract}.yaml`]: { get: [pageHeaders, sendText(YAML, yaml)] },
  }
}

/**
 * Builds the routes of the copies: all contracts as one, OpenAPI 3.0, and the document for generated clients. Management is in them whether
 * it is served or not, as its own document is: a client is generated before the first admin key is issued.
 */
function buildCopies(specs: Specs): RouteTable {
  const whole = mergeDocuments(specs)
  const forClients = reduceForClients(whole)
  const copies = {
    '/openapi-client.json': forClients,
    '/openapi-3.0.json': convertToOpenApi30(specs.openapi.document),
    '/openapi-all.json': whole,
    '/openapi-all-3.0.json': convertToOpenApi30(whole),
  }
  return {
    ...mapRecord(copies, (_, copy) => ({
      get: [pageHeaders, sendText('json', JSON.stringify(copy))],
    })),
    '/openapi-client.yaml': { get: [pageHeaders, sendText(YAML, dump(forClients))] },
  }
}

/** Creates a handler that sends a file of Swagger UI, compressed for clients that take gzip. */
function sendSwagger(file: string): RequestHandler {
  let compressed: Promise<Buffer> | undefined
  return async (request, response) => {
    // A new release of Swagger UI has new files under the same names.
    response
      .set({ ETag: `"${SWAGGER_UI_VERSION}"`, Vary: 'Accept-Encoding' })
      .type(path.extname(file))
    if (request.acceptsEncodings('gzip') === false) {
      // With an absolute path, a folder of the installation that begins with a dot would count as hidden.
      response.sendFile(file, { root: SWAGGER_UI, etag: false })
      return
    }
    compressed ??= readFile(path.join(SWAGGER_UI, file)).then(promisify(gzip))
    const body = await compressed
    response.set('Content-Encoding', 'gzip').send(body)
  }
}
