/** Runs queries across projects without HTTP. */
import { runAcrossProjects } from '../../../src/analytics/across/run-across-projects.js'
import type { Plan } from '../../../src/analytics/plan/plan.js'
import { createQueryRunner } from '../../../src/clickhouse/run.js'
import type { Store } from '../../../src/clickhouse/store.js'
import type { AcrossRequest, AcrossResponse } from '../../../src/contract/across-projects.js'
import { findFirstEventTimeOfAny } from '../../../src/projects/event-times.js'
import type { StoredProject } from '../../../src/projects/project.js'
import { NOW } from './world.js'

/** A request without the members that have defaults. */
export type PartialAcross = Pick<AcrossRequest, 'date_range'> & Partial<AcrossRequest>

/** Fills in the defaults of a request. */
export const fillAcross = (asked: PartialAcross): AcrossRequest => ({
  metrics: ['users', 'pageviews', 'events'],
  order_by: [],
  limit: 100,
  offset: 0,
  filters: [],
  filtersOperator: 'and',
  ...asked,
})

/** Runs a query about projects of one store. */
export const runAcross = (
  store: Store,
  projects: readonly StoredProject[],
  asked: PartialAcross,
  onPlan?: (plan: Plan) => void,
): Promise<AcrossResponse> =>
  runAcrossProjects(fillAcross(asked), projects, {
    now: () => NOW,
    onPlan,
    openData: () => ({
      group: undefined,
      run: (statement) => createQueryRunner(store, 30_000)(statement),
      firstEventAt: (ids) => findFirstEventTimeOfAny(store.reader, ids),
    }),
  })
