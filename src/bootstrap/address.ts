/** Explains in plain words why the service cannot listen on its address. */
import { UserError } from '../lib/errors.js'

/** Error codes of the operating system, in plain words. */
const ADDRESS_ERRORS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'is in use by another process',
  EADDRNOTAVAIL: 'does not belong to this machine',
  EACCES: 'needs more rights than this user has',
  ENOTFOUND: 'does not exist',
}

/** Throws a UserError if the system refused the address of the service, and rethrows any other error. */
export function rethrowListenError(
  error: NodeJS.ErrnoException & { address?: string; port?: number },
): never {
  const reason = error.syscall === undefined ? undefined : ADDRESS_ERRORS[error.code ?? '']
  if (reason === undefined) throw error
  throw new UserError(`the address ${error.address ?? 'HOST'}:${error.port ?? 'PORT'} ${reason}`)
}
