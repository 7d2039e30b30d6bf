/** Reads single environment variables, and the rules between them. */
import { ConfigError } from './config-error.js'
import { VARIABLES, type Value, type Variable, type VariableName } from './variables.js'

/** @throws ConfigError when the value cannot be parsed */
export function readVariable<N extends VariableName>(env: NodeJS.ProcessEnv, name: N): Value<N> {
  const { format, fallback, parse, secret }: Variable = VARIABLES[name]
  const text = readText(env, name) ?? fallback
  if (text === null) return undefined as Value<N>
  const value = parse(text)
  if (value !== undefined) return value as Value<N>
  throw new ConfigError(
    `${name} must be ${format}${secret === true ? '' : `, not ${JSON.stringify(text)}`}`,
  )
}

/** @throws ConfigError when `name` is set without `other` */
export function requireTogether(
  env: NodeJS.ProcessEnv,
  name: VariableName,
  other: VariableName,
): void {
  if (isSet(env, name) && !isSet(env, other)) {
    throw new ConfigError(`${name} needs ${other}, which is not set`)
  }
}

/** @throws ConfigError when both are set */
export function requireApart(
  env: NodeJS.ProcessEnv,
  name: VariableName,
  other: VariableName,
): void {
  if (isSet(env, name) && isSet(env, other)) {
    throw new ConfigError(`${name} and ${other} exclude each other: set one of them`)
  }
}

/** Whether a variable has a value; an empty one counts as not set. */
const isSet = (env: NodeJS.ProcessEnv, name: VariableName): boolean =>
  readText(env, name) !== undefined

const readText = (env: NodeJS.ProcessEnv, name: VariableName): string | undefined =>
  env[name] === '' ? undefined : env[name]
