import { findEngine } from '../src/clickhouse/embedded/find-engine.js'
import { connectStore } from '../src/clickhouse/store.js'
const endpoint = await findEngine(process.argv[2]!)
const store = connectStore(endpoint!)
for (const q of process.argv.slice(3)) { const r = await store.admin.query({query: q, query_params: {}}); console.log(q); console.table((r as any).rows) }
await store.close()
