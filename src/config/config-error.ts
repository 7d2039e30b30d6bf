/** The error of an unusable configuration. */

/** Thrown when an environment variable has an unusable value. The message is one line that names the variable. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
}
