/** Measures the query language: each question beside a simpler one, or beside the best statement by hand. */
import { withDataFolder } from '../shared/data-folder.js'
import { COHORT_PAIRS } from './cohorts.js'
import { QUERY_PAIRS } from './queries.js'
import { measureQuestions, ONLY } from './run.js'
import { printStreams } from './streams.js'

await withDataFolder(async (dataDir) => {
  await measureQuestions(dataDir, { pairs: [...QUERY_PAIRS, ...COHORT_PAIRS], table: 'all' })
  if (ONLY !== '') return
  console.log('\nStreams:\n')
  await printStreams()
})
