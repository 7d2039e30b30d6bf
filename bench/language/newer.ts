/** Measures the CPU time of numbers, goals, journeys and the newer words of the query language, and the room that they take. */
import { sql, statement } from '../../src/clickhouse/sql.js'
import { printDiskOf } from '../reads/disk.js'
import { ADD_NUMBERS } from '../reads/generate-sql.js'
import { withDataFolder } from '../shared/data-folder.js'
import { defineGoals, GOAL_PAIRS } from './goals.js'
import { JOURNEY_PAIRS } from './journeys.js'
import { NUMBER_PAIRS } from './numbers.js'
import { measureQuestions } from './run.js'
import { WORD_PAIRS } from './words.js'

await withDataFolder((dataDir) =>
  measureQuestions(dataDir, {
    pairs: [...NUMBER_PAIRS, ...GOAL_PAIRS, ...WORD_PAIRS, ...JOURNEY_PAIRS],
    table: 'cpu',
    prepare: async (store) => {
      for (const one of ADD_NUMBERS) {
        await store.admin.execute(statement(one), { mutations_sync: '1' })
      }
      // Small parts do not say what their columns take.
      const merge = statement(sql`OPTIMIZE TABLE events FINAL`)
      await store.admin.execute(merge, { optimize_skip_merged_partitions: 1 })
      await defineGoals(store)
    },
    printStore: async (store) => {
      console.log()
      await printDiskOf(store)
    },
  }),
)
