/** A store that cannot be reached: queries fail before their deadline, soon without being sent, and no key is taken for invalid. */
import { expect, test } from '@jest/globals'
import { once } from 'node:events'
import https from 'node:https'
import net, { type AddressInfo } from 'node:net'
import { createKeyLookup } from '../../../../src/auth/key-lookup.js'
import { createQueryRunner } from '../../../../src/clickhouse/run.js'
import { sql, statement } from '../../../../src/clickhouse/sql.js'
import { connectStore } from '../../../../src/clickhouse/store.js'
import { addMigrate } from '../../../../src/commands/migrate.js'
import { addDoctor } from '../../../../src/commands/operate/doctor.js'
import { ApiError } from '../../../../src/contract/errors.js'
import { getTestEndpoint } from '../../../support/engine/engine.js'
import { runCommand } from '../../../support/cli/commands.js'
import { startChaosProxy } from '../../../support/faults/chaos-proxy.js'
import { SELF_SIGNED } from '../../../support/faults/self-signed.js'
import { until } from '../../../support/until.js'

interface Place {
  /** An address at which no ClickHouse answers. */
  readonly url: string
  /** Ends the fault, if it can end. */
  readonly heal?: () => void
  readonly stop?: () => Promise<void>
}

/** Listens on a free port. */
async function listen(server: net.Server): Promise<Required<Pick<Place, 'url' | 'stop'>>> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const stop = async (): Promise<void> => {
    server.close()
    await once(server, 'close')
  }
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, stop }
}

/** Listens as a ClickHouse with TLS would, and answers every query. */
async function listenWithSelfSigned(): Promise<Required<Pick<Place, 'url' | 'stop'>>> {
  const { url, stop } = await listen(
    https.createServer(SELF_SIGNED, (_request, response) => response.end('1\n')),
  )
  return { url: url.replace('http:', 'https:'), stop }
}

const PLACES: Readonly<Record<string, () => Place | Promise<Place>>> = {
  'connections are refused': async () => {
    const { url, stop } = await listen(net.createServer())
    await stop()
    return { url }
  },
  'connections are reset when they are accepted': async () => {
    const proxy = await startChaosProxy(getTestEndpoint().url)
    proxy.fail({ kind: 'reject' })
    return { ...proxy, heal: () => proxy.fail({ kind: 'none' }) }
  },
  'connections are accepted and never answered': async () => {
    const proxy = await startChaosProxy(getTestEndpoint().url)
    proxy.fail({ kind: 'black hole' })
    return { ...proxy, heal: () => proxy.fail({ kind: 'none' }) }
  },
  'the host is unknown': () => ({ url: 'http://no-such-host.invalid:8123' }),
  'HTTP on a port of HTTPS': () => listen(https.createServer()),
  'a certificate that no authority has signed': () => listenWithSelfSigned(),
  'HTTPS on a port of HTTP': () => ({ url: getTestEndpoint().url.replace('http:', 'https:') }),
}

test.each(Object.entries(PLACES))('%s', async (_name, open) => {
  const { url, heal, stop } = await open()
  const changes: boolean[] = []
  const store = connectStore({ ...getTestEndpoint(), url }, undefined, undefined, (isOpen) =>
    changes.push(isOpen),
  )
  /** Returns how a query and a look-up of a key end. A query that waits for its deadline ends as QUERY_TIMEOUT. */
  const ask = async (): Promise<readonly unknown[]> => {
    const calls = [
      createQueryRunner(store, 60_000)(statement(sql`SELECT 1`)),
      createKeyLookup(store.lookups).find({ keyId: 'k', projectId: 'shop' }),
    ]
    return (await Promise.allSettled(calls)).map((one) =>
      one.status === 'rejected' && one.reason instanceof ApiError ? one.reason.code : one.status,
    )
  }
  const refused = ['SERVICE_UNAVAILABLE', 'SERVICE_UNAVAILABLE']
  await until(async () => {
    expect(await ask()).toEqual(refused)
    return changes.length > 0
  })
  for (let n = 0; n < 5; n++) expect(await ask()).toEqual(refused)
  if (heal !== undefined) {
    heal()
    await until(async () => (await ask())[0] === 'fulfilled')
    expect(changes).toEqual([true, false])
  }
  await store.close()
  await stop?.()
})

test('a certificate that no authority has signed is named by the error, and by doctor', async () => {
  const { url, stop } = await listenWithSelfSigned()
  const options = { endpoint: { ...getTestEndpoint(), url }, now: new Date() }
  expect((await runCommand(addMigrate, ['migrate'], options)).error).toBe('self-signed certificate')
  const { stdout } = await runCommand(addDoctor, ['doctor', '--json'], options)
  const checks = JSON.parse(stdout) as readonly { readonly name: string }[]
  expect(checks.find(({ name }) => name === 'store')).toEqual({
    name: 'store',
    verdict: 'fail',
    finding: `ClickHouse at ${url} does not respond: self-signed certificate`,
    advice: expect.stringContaining('certificate'),
  })
  await stop()
})
