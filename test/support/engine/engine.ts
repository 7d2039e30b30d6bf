/** The engine that all tests of a run share. */
import type { Endpoint } from '../../../src/clickhouse/endpoint.js'

/** The address and accounts of the shared engine, which the global setup hands to the workers. */
export function getTestEndpoint(): Endpoint {
  const text = process.env['TEST_ENGINE']
  if (text === undefined) {
    throw new Error(
      'this test needs the embedded ClickHouse, which jest starts where its package is installed',
    )
  }
  return JSON.parse(text) as Endpoint
}
