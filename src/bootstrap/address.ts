/** Tells in plain words why the service cannot have its address. */
import { once } from 'node:events'
import { createServer } from 'node:net'
import type { Config } from '../config/config.js'
import { UserError } from '../lib/errors.js'

/** What the system says of an address that cannot be had. */
const ADDRESS_ERRORS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'is in use by another process',
  EADDRNOTAVAIL: 'is not one of this machine',
  EACCES: 'may not be used by this user',
  ENOTFOUND: 'does not exist',
}

/** Throws a UserError for an address that cannot be had, and any other error as it is. */
export function explainAddress(
  error: NodeJS.ErrnoException & { address?: string; port?: number },
): never {
  const words = error.syscall === undefined ? undefined : ADDRESS_ERRORS[error.code ?? '']
  if (words === undefined) throw error
  throw new UserError(`the address ${error.address ?? 'HOST'}:${error.port ?? 'PORT'} ${words}`)
}

/**
 * Looks whether the service could listen, ahead of work that would be in vain.
 *
 * @throws UserError when it could not.
 */
export async function requireFreeAddress({ host, port }: Config): Promise<void> {
  const server = createServer()
  try {
    server.listen({ host, port })
    await once(server, 'listening')
  } catch (error) {
    explainAddress(error as NodeJS.ErrnoException)
  } finally {
    server.close()
  }
}
