/** What `tallyhouse doctor` asks the shards of a cluster together. Nothing is written. */
import { planSync } from '../../cluster/plan-sync.js'
import { sql, statement } from '../../clickhouse/sql.js'
import { listUnfinishedRelocations } from '../../relocation/journal.js'
import { listVersionMarks } from '../../projects/versions.js'
import {
  judgeClocks,
  judgeCopies,
  judgeRelocations,
  judgePlaces,
  judgeVersions,
  type ByShard,
} from './cluster-judgments.js'
import type { Finding } from './judgments.js'
import { readSkew, type Patient } from './store-checks.js'

/** The stores that answer, by name, the home first. */
type Patients = ReadonlyMap<string, Patient>

interface ClusterCheck {
  readonly name: string
  /** Whether it needs the tables of the home. */
  readonly needsHome: boolean
  /** @param names of all shards, the home first */
  readonly examine: (patients: Patients, names: readonly string[]) => Promise<Finding>
}

export const CLUSTER_CHECKS: readonly ClusterCheck[] = [
  {
    name: 'versions of shards',
    needsHome: false,
    examine: async (patients) => judgeVersions(await readEach(patients, readVersion)),
  },
  {
    name: 'clocks of shards',
    needsHome: false,
    examine: async (patients) => judgeClocks(await readEach(patients, readSkew)),
  },
  {
    name: 'shards of projects',
    needsHome: true,
    examine: async (patients, names) => {
      const marks = await readMarks(patients, names[0])
      return judgePlaces(marks, names)
    },
  },
  {
    name: 'copies of projects',
    needsHome: true,
    examine: async (patients, [home, ...others]) => {
      const marks = await readMarks(patients, home)
      const answering = [...patients].filter(([name]) => others.includes(name))
      const plans = await readEach(new Map(answering), async ({ store }, name) =>
        planSync(marks, name, await listVersionMarks(store.writer)),
      )
      return judgeCopies(plans)
    },
  },
  {
    name: 'moves of projects',
    needsHome: true,
    examine: async (patients, [home = '']) => {
      const patient = patients.get(home)
      return judgeRelocations(
        patient === undefined ? [] : await listUnfinishedRelocations(patient.store.writer),
      )
    },
  },
]

const readMarks = async (patients: Patients, home = ''): ReturnType<typeof listVersionMarks> => {
  const patient = patients.get(home)
  return patient === undefined ? [] : listVersionMarks(patient.store.writer)
}

/** Asks each store for a fact. */
async function readEach<Fact>(
  patients: Patients,
  read: (patient: Patient, name: string) => Promise<Fact>,
): Promise<ByShard<Fact>> {
  const entries = await Promise.all(
    [...patients].map(async ([name, patient]) => [name, await read(patient, name)] as const),
  )
  return new Map(entries)
}

async function readVersion({ outside }: Patient): Promise<string> {
  const { rows } = await outside.query<{ version: string }>(
    statement(sql`SELECT version() AS version`),
  )
  return rows[0]?.version ?? ''
}
