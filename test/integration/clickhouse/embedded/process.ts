/** A second process for the tests: `start <folder>` runs an engine until it is killed, `find` finds one. */
import { findEngine, startEngine } from '../../../../src/clickhouse/embedded/engine.js'

const [command, dataDir = ''] = process.argv.slice(2)

const print = (what: unknown): unknown => process.stdout.write(`${JSON.stringify(what)}\n`)

if (command === 'start') {
  const engine = await startEngine({ dataDir, purpose: 'another process' }).catch(
    (error: unknown) => {
      print({ refused: (error as Error).message })
    },
  )
  if (engine !== undefined) {
    print({ enginePid: engine.pid, endpoint: engine.endpoint })
    process.stdin.on('end', () => void engine.stop()).resume()
  }
}
if (command === 'find') print((await findEngine(dataDir)) ?? null)
