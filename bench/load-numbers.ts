/** Measures what numbers in events and goals add to loading. */
import { NUMBERS, printLoadRates } from './shared/load-rate.js'

await printLoadRates(NUMBERS)
