/** The error of a migration that is refused or fails. */

/** Names the file; nothing of it is recorded as applied. */
export class MigrationError extends Error {
  override readonly name = 'MigrationError'
  /** The file, e.g. `0001_projects.sql`. */
  readonly file: string

  constructor(file: string, reason: string, options?: ErrorOptions) {
    super(`migration ${file}: ${reason}`, options)
    this.file = file
  }
}
