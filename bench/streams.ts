/** Measures answers of many rows, and exports of many events. */
import { printStreams } from './language/streams.js'
import { printMachine } from './shared/figures.js'

await printMachine(new Date())
await printStreams()
