/** The engine that all tests of a run share. */
import type { Endpoint } from '../../../src/clickhouse/endpoint.js'

/** The address and accounts of the shared engine, which the global setup hands to the workers. */
export function getTestEndpoint(): Endpoint {
  const text = process.env['TEST_ENGINE']
  if (text === undefined) throw new Error('TEST_ENGINE is not set: run the tests with jest')
  return JSON.parse(text) as Endpoint
}
