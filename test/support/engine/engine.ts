/** The engine that all tests of a run share. */
import type { Endpoint } from '../../../src/clickhouse/endpoint.js'

/** Where the shared engine answers, as the global setup has told it to the workers. */
export function testEndpoint(): Endpoint {
  const told = process.env['TEST_ENGINE']
  if (told === undefined) throw new Error('TEST_ENGINE is not set: run the tests with jest')
  return JSON.parse(told) as Endpoint
}
