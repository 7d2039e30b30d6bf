/** Sends files to a service with management, and looks at what becomes of them. */
import { expect } from '@jest/globals'
import { once } from 'node:events'
import { request as openRequest, type IncomingMessage } from 'node:http'
import { sql, statement, string } from '../../../src/clickhouse/sql.js'
import type { Operation } from '../../../src/contract/management-api.js'
import type { Sent, withManagement } from './management.js'

export const AT = '2026-03-09T10:00:00.000Z'

/** Writes an event as a line of NDJSON. */
export const line = (id: string, more: object = {}): string =>
  `${JSON.stringify({ timestamp: AT, event_id: id, user_id: 'u', ...more })}\n`

/** The result of an import of events of one user in one session. */
export const RESULT = {
  ...{ read: 0, loaded: 0, duplicates: 0, bots: 0, excluded: 0, rejected: 0, skipped: 0 },
  ...{ users: 1, sessions: 1, first: AT, last: AT, dryRun: false, notes: [] },
}

interface UploadOptions {
  readonly key?: string
  readonly headers?: Readonly<Record<string, string>>
}

export function importing(service: ReturnType<typeof withManagement>) {
  const { send } = service

  const upload = (
    project: string,
    file: string | Buffer,
    query = '',
    options: UploadOptions = {},
    address?: string,
  ): Promise<Sent> =>
    send(
      'POST',
      `/v1/projects/${project}/imports${query}`,
      { ...options, file: Buffer.from(file) },
      address,
    )
  /** Sends the head of a request, and what is written later. */
  function sendSlowly(project: string, headers: Readonly<Record<string, string>> = {}) {
    const address = service.service.managementAddress ?? service.service.address
    const request = openRequest(`${address}/v1/projects/${project}/imports`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${service.root}`, ...headers },
    }).on('error', () => undefined)
    request.flushHeaders()
    const answer = (async () => {
      const [response] = (await once(request, 'response')) as [IncomingMessage]
      let text = ''
      for await (const chunk of response) text += String(chunk)
      request.destroy()
      return { status: response.statusCode, text }
    })()
    answer.catch(() => undefined)
    return { request, answer }
  }

  const readOperation = async (id: string): Promise<Operation> =>
    (await send('GET', `/v1/operations/${id}`)).body as Operation

  return {
    upload,
    sendSlowly,
    readOperation,
    makeProject: (id: string, org: string | null = null): Promise<Sent> =>
      send('PUT', `/v1/projects/${id}`, { body: { name: 'Shop', domain: 'shop.example', org } }),
    /** Imports a file, and returns the operation at its end. */
    importFile: async (
      project: string,
      file: string | Buffer,
      query?: string,
    ): Promise<Operation & { readonly result: typeof RESULT | null }> => {
      const begun = await upload(project, file, query)
      expect([begun.status, begun.body]).toMatchObject([202, { state: 'waiting', kind: 'import' }])
      const { id } = begun.body as Operation
      expect(begun.headers.get('location')).toBe(`/v1/operations/${id}`)
      await service.runOperations()
      return (await readOperation(id)) as never
    },
    /** Counts the pieces of files of a project. */
    countPieces: async (project: string, kind = 'upload'): Promise<number> => {
      const { rows } = await service.store.writer.query<{ pieces: number }>(
        statement(
          sql`SELECT count() AS pieces FROM uploads WHERE project_id = ${string(project)} AND kind = ${string(kind)}`,
        ),
      )
      return rows[0]?.pieces ?? 0
    },
  }
}

/** Returns the status, the code and the fields of an error. */
export const codeOf = ({ status, body }: Sent): readonly unknown[] => {
  const { error } = body as { error: { code: string; details?: { field: string }[] } }
  return [status, error.code, ...(error.details ?? []).map(({ field }) => field)]
}
