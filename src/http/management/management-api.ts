/** What an operation of management is given, and what it returns. Each operation is a row of a list. */
import type { AnyOperation } from '../../analytics/operation.js'
import type { AdminKey } from '../../auth/admin-keys.js'
import type { AdminAuthenticator } from '../../auth/authenticate-admin.js'
import type { SigningKey } from '../../auth/signing-key.js'
import type { Cluster } from '../../cluster/cluster.js'
import type { AcrossRequest, AcrossResponse } from '../../contract/across-projects.js'
import type { AdminScope } from '../../contract/admin-scopes.js'
import { MissingError } from '../../lib/errors.js'
import type { Logger } from '../../lib/log.js'
import type { ManagementContext } from '../../management/context.js'
import type { StoredProject } from '../../projects/project.js'
import { requireProject } from '../../projects/store.js'
import type { Method } from '../server/routes.js'
import type { ValidateBody } from '../validation/validate-body.js'
import type { ReceiveUpload, UploadGate } from './receive-upload.js'

/** What the operations need of the service. */
export interface ManagementApi {
  readonly admins: AdminAuthenticator
  readonly cluster: Cluster
  /** Opens the key that signs API keys. */
  readonly openSigningKey: () => Promise<SigningKey>
  /** Answers a query about projects. */
  readonly queryProjects: (
    request: AcrossRequest,
    projects: readonly StoredProject[],
    asker: Asker,
  ) => Promise<AcrossResponse>
  readonly uploads: UploadGate
  /** Is called when an operation was stored. */
  readonly onOperation: () => void
  readonly now: () => Date
  /** The number of shards of a new project. */
  readonly defaultWidth: number
  /** Requests per minute and admin key; 0 means no limit. */
  readonly rateLimit: number
}

/** Who waits for a query. */
interface Asker {
  readonly keyId: string
  readonly requestId: string
  readonly logger: Logger
  /** Aborts when the response can no longer be delivered. */
  readonly signal: AbortSignal
}

/** A request that is authenticated and valid. */
export interface ManagementRequest<Body = unknown> {
  readonly key: AdminKey
  readonly params: Readonly<Record<string, string>>
  /** The query string, each parameter as a text. */
  readonly query: Readonly<Record<string, string | undefined>>
  /** Returns all values of a parameter of the query string that may be repeated. */
  readonly listParameters: (name: string) => readonly string[]
  /** Parsed; undefined for an upload. */
  readonly body: Body
  /** Receives the body of an upload. */
  readonly receive: ReceiveUpload
  /**
   * Runs what is left of an upload once for an `Idempotency-Key`; the body stands for what was uploaded. Other operations are run
   * once as a whole.
   */
  readonly once: (body: object, run: RunRequest) => Promise<ManagementResponse>
  /** The type that the client wants most. */
  readonly accept: 'application/json' | 'text/csv'
  readonly ifMatch: string | undefined
  readonly ifNoneMatch: string | undefined
  /** Validates what is part of a query. */
  readonly validate: ValidateBody
  readonly asker: Asker
  /** For the use cases: the key of the request acts. */
  readonly context: ManagementContext
}

export type RunRequest = (request: ManagementRequest) => Promise<ManagementResponse>

export interface ManagementResponse {
  readonly status: number
  /** Left out for a response without a body. */
  readonly body?: object
  /** In place of `body`: a text, whose type is among the headers. */
  readonly text?: string
  /** The same, as it is read. */
  readonly stream?: AsyncIterable<Buffer>
  readonly headers?: Readonly<Record<string, string>>
}

export interface ManagementOperation {
  readonly method: Method
  /** As in the contract, such as `/v1/projects/{id}`. */
  readonly path: string
  readonly scope: AdminScope
  /** The most bytes of its body; 64 kB if left out. */
  readonly maxBytes?: number
  /** Whether its body is a file, which is neither parsed nor checked. */
  readonly isUpload?: true
  /** What checks its body in place of the contract of management, for an operation that the contract of queries has. */
  readonly checkedAs?: AnyOperation
  /** Whether an API key of the project may call it, too. */
  readonly isForProjectKeys?: true
  readonly run: (api: ManagementApi, request: ManagementRequest) => Promise<ManagementResponse>
}

/** Declares an operation whose body has the type of the contract. */
export const defineOperation = <Body>(
  operation: Omit<ManagementOperation, 'run'> & {
    readonly run: (
      api: ManagementApi,
      request: ManagementRequest<Body>,
    ) => Promise<ManagementResponse>
  },
): ManagementOperation => operation as ManagementOperation

/** Returns whether a key may see a project. */
export const maySee = ({ org }: AdminKey, project: Pick<StoredProject, 'org'>): boolean =>
  org === null || org === project.org

/**
 * Finds the project of a request.
 *
 * @throws MissingError when it does not exist, and when the key may not see it
 */
export async function requireOwnProject(
  { cluster }: ManagementApi,
  { key, params }: Pick<ManagementRequest, 'key' | 'params'>,
): Promise<StoredProject> {
  const id = params['id'] ?? ''
  const project = await requireProject(cluster.home.store.writer, id)
  if (!maySee(key, project)) throw new MissingError(`there is no project ${id}`)
  return project
}
