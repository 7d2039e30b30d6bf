/** A process that serves queries from a store, so that a test can suspend it. It prints its address. */
import { writeSync } from 'node:fs'
import type { Endpoint } from '../../../src/clickhouse/endpoint.js'
import { connectStore } from '../../../src/clickhouse/store.js'
import { startTestService } from '../world/service.js'
import { NOW } from '../world/world.js'

const endpoint = JSON.parse(process.argv[2] ?? '') as Endpoint
const { address } = await startTestService({ store: connectStore(endpoint), now: () => NOW })
writeSync(1, `${address}\n`)
