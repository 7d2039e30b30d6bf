/** The engines on which the tests of replicated stores run. */
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { sendStatement } from '../../../src/clickhouse/embedded/send-statement.js'
import { describeReplicated } from '../../support/replicas/describe-replicated.js'
import { startReplicas, type ReplicaGroup, type Replica } from '../../support/replicas/replicas.js'
import { until } from '../../support/until.js'

const TIMEOUT_MS = 60_000

describeReplicated('engines that replicate tables', () => {
  let group: ReplicaGroup
  beforeAll(async () => {
    group = await startReplicas()
  })
  afterAll(() => group.stop())

  const send = ({ endpoint }: Replica, text: string): Promise<string> =>
    sendStatement(endpoint, 'admin', text, TIMEOUT_MS)
  const read = (replica: Replica): Promise<string> =>
    send(replica, 'SELECT groupArray(n) FROM (SELECT n FROM tallyhouse.numbers_of_both ORDER BY n)')

  test('replicates a table, also what a killed engine missed', async () => {
    const { replicas } = group
    const [a, b] = replicas
    for (const replica of replicas) {
      await send(
        replica,
        `CREATE TABLE tallyhouse.numbers_of_both (n UInt64)
         ENGINE = ReplicatedMergeTree('/tests/numbers_of_both', '${replica.name}') ORDER BY n`,
      )
    }
    const quorum = 'SETTINGS insert_quorum = 2, insert_quorum_parallel = 1'
    await send(a, `INSERT INTO tallyhouse.numbers_of_both ${quorum} VALUES (1)`)
    await send(b, `INSERT INTO tallyhouse.numbers_of_both ${quorum} VALUES (2)`)
    expect([await read(a), await read(b)]).toEqual(['[1,2]\n', '[1,2]\n'])

    await a.kill()
    await send(b, 'INSERT INTO tallyhouse.numbers_of_both VALUES (3)')
    await a.start()
    await until(async () => (await read(a)) === '[1,2,3]\n')
  })
})
