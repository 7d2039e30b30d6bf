/** Measures a shard with two replicas: how long collecting, queries and loads are away when something happens to it. */
import { setTimeout as sleep } from 'node:timers/promises'
import { formatTenths, printMachine, printTable, summarize } from '../shared/figures.js'
import { formatFelt, useReplicas, type Felt, type UsedReplicas } from './used.js'

const ROUNDS = Number(process.env['ROUNDS'] ?? 5)

/** Each does something to replicas in use, and returns for how long that was felt. */
const EVENTS: Readonly<Record<string, (used: UsedReplicas) => Promise<Felt>>> = {
  'the active engine is killed': async ({ findActive, getOther, feel, untilAlike }) => {
    const killed = await findActive()
    const felt = await feel(async () => {
      await killed.kill()
      const next = getOther(killed)
      while ((await findActive(next)) !== next) await sleep(50)
    })
    await killed.start()
    await untilAlike()
    return felt
  },
  'the shard is handed over': async ({ services, findActive, getOther, feel }) => {
    const next = getOther(await findActive())
    return feel(async () => {
      const { code, stderr } = await services.run('cluster', 'activate', 'shard1', next.name)
      if (code !== 0) throw new Error(stderr)
    })
  },
  'the disk of the active engine is lost': async ({
    group,
    services,
    open,
    findActive,
    getOther,
    feel,
    untilAlike,
  }) => {
    const lost = await findActive()
    const next = getOther(lost)
    const { database } = group.replicas[0].endpoint
    const felt = await feel(async () => {
      await lost.kill()
      await lost.loseDisk()
      while ((await findActive(next)) !== next) await sleep(50)
    })
    const begun = performance.now()
    await open(next).admin.execute({
      query: `SYSTEM DROP REPLICA '${lost.name}' FROM DATABASE ${database}`,
      query_params: {},
    })
    await lost.start()
    const { code, stderr } = await services.run('migrate')
    if (code !== 0) throw new Error(stderr)
    await untilAlike()
    console.log('two disks again after', formatTenths((performance.now() - begun) / 1_000), 's')
    return felt
  },
  'the standby is killed': async ({ findActive, getOther, feel, untilAlike }) => {
    const killed = getOther(await findActive())
    const felt = await feel(() => killed.kill())
    await killed.start()
    await untilAlike()
    return felt
  },
  'Keeper is killed for a minute': async ({ group: { keeper }, feel, untilAlike }) => {
    const felt = await feel(async () => {
      await keeper.kill()
      await sleep(60_000)
      await keeper.start()
    })
    await untilAlike()
    return felt
  },
}

const ONLY = process.env['ONLY']
await printMachine(new Date())
for (const [name, happen] of Object.entries(EVENTS)) {
  if (ONLY !== undefined && !name.includes(ONLY)) continue
  const used = await useReplicas()
  const felt: Felt[] = []
  for (let n = 0; n < ROUNDS; n += 1) {
    await sleep(Math.random() * 2_000)
    felt.push(await happen(used))
    console.log(name, ...formatFelt(felt.at(-1)!))
  }
  const compared = await used.compare()
  const { failedTwice, older, outcomes, withoutAdvice } = used.visitors
  await used.stop()
  printTable(
    [name, 'median s', 'longest s'],
    (['collecting', 'queries', 'loads'] as const).map((what) => {
      const times = felt.map((one) => one[what])
      return [what, formatTenths(summarize(times).median), formatTenths(Math.max(...times))]
    }),
  )
  console.log({ ...compared, failedTwice, older, outcomes, withoutAdvice })
}
