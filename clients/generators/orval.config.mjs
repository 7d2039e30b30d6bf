/**
 * The options of Orval. It reads an ES module only from a file of this name in the current folder. `DOCUMENT` and `OUTPUT` name the
 * contract and the folder of the client.
 */
import { env } from 'node:process'
import { defineConfig } from 'orval'

export default defineConfig({
  tallyhouse: {
    input: { target: env['DOCUMENT'] },
    output: {
      target: `${env['OUTPUT']}/client.ts`,
      client: 'fetch',
      // Answers are also CSV, NDJSON, Arrow and Parquet, and Orval declares the same name for each of them.
      override: { contentType: { include: ['application/json'] } },
    },
  },
})
