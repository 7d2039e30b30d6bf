/** Measures what numbers in events and goals add to loading. */
import { NUMBERS, printLoadRates, SUMS } from './shared/load-rate.js'

await printLoadRates(NUMBERS)
await printLoadRates(SUMS)
