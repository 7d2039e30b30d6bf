/** Measures how fast a backend creates projects over HTTP, each with an API key. */
import { randomUUID } from 'node:crypto'
import { runCli } from '../test/support/cli/cli.js'
import { findChild, readCpuSeconds } from './shared/collecting.js'
import { withDataFolder } from './shared/data-folder.js'
import { formatTenths, formatWhole, measureMs, printMachine, printTable } from './shared/figures.js'
import { startServiceProcess } from './shared/service.js'

const PROJECTS = Number(process.env['PROJECTS'] ?? 500)

interface Backend {
  readonly name: string
  /** How many projects it creates at the same time. */
  readonly parallel: number
  /** Whether it sends an Idempotency-Key with each request. */
  readonly repeats: boolean
}

const BACKENDS: readonly Backend[] = [
  { name: 'one after another', parallel: 1, repeats: false },
  { name: '16 at a time', parallel: 16, repeats: false },
  { name: '16 at a time, with Idempotency-Key', parallel: 16, repeats: true },
]

type Post = (path: string, body: object) => Promise<{ readonly id: string }>

const createPost =
  (address: string, adminKey: string, { repeats }: Backend): Post =>
  async (path, body) => {
    const response = await fetch(address + path, {
      method: 'POST',
      headers: {
        Authorization: `Bearer ${adminKey}`,
        'Content-Type': 'application/json',
        ...(repeats ? { 'Idempotency-Key': randomUUID() } : {}),
      },
      body: JSON.stringify(body),
    })
    if (response.status !== 201) throw new Error(await response.text())
    return (await response.json()) as { readonly id: string }
  }

/** Creates the projects. */
async function provision(post: Post, { parallel }: Backend): Promise<void> {
  let next = 0
  const work = async (): Promise<void> => {
    while (next < PROJECTS) {
      const number = next++
      const { id } = await post('/v1/projects', {
        name: `Customer ${number}`,
        domain: `c${number}.example`,
      })
      await post(`/v1/projects/${id}/keys`, { name: 'backend' })
    }
  }
  await Promise.all(Array.from({ length: parallel }, work))
}

await printMachine(new Date())
const lines: string[][] = []
for (const backend of BACKENDS) {
  await withDataFolder(async (dataDir) => {
    const service = await startServiceProcess(dataDir)
    try {
      const { stdout } = await runCli(['key', 'issue', '--admin'], { DATA_DIR: dataDir })
      const post = createPost(service.address, stdout.trim(), backend)
      const engine = await findChild(service.pid)
      const readCpu = async (): Promise<number> =>
        (await readCpuSeconds(service.pid)) + (await readCpuSeconds(engine))
      const before = await readCpu()
      const ms = await measureMs(() => provision(post, backend))
      const cpuMs = ((await readCpu()) - before) * 1_000
      lines.push([
        backend.name,
        formatWhole((PROJECTS / ms) * 1_000),
        formatTenths(cpuMs / PROJECTS),
      ])
    } finally {
      await service.stop()
    }
  })
}
console.log(`${formatWhole(PROJECTS)} projects, each with a key:\n`)
printTable(
  [
    'the backend creates them',
    'projects per second',
    'CPU of the service and its engine, ms per project',
  ],
  lines,
)
