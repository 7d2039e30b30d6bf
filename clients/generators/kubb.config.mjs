/** Kubb reads its options from a file. `DOCUMENT` and `OUTPUT` name the contract and the folder of the client. */
import { env } from 'node:process'
import { defineConfig } from '@kubb/core'
import { pluginClient } from '@kubb/plugin-client'
import { pluginOas } from '@kubb/plugin-oas'
import { pluginTs } from '@kubb/plugin-ts'

export default defineConfig({
  root: '.',
  input: { path: env['DOCUMENT'] },
  output: { path: env['OUTPUT'], clean: true },
  plugins: [
    pluginOas({ validate: false }),
    pluginTs({ output: { path: 'models' } }),
    pluginClient({ output: { path: 'clients' }, client: 'fetch' }),
  ],
})
