/** Reads where a running service is, for the commands that ask one. */
import { ConfigError } from './config-error.js'

export interface ServiceAddress {
  readonly url: URL
  /** A secret: never printed or logged. */
  readonly apiKey: string
}

/** The variables of these commands, for help texts. They are no part of the configuration of a service. */
export const SERVICE_VARIABLES = {
  TALLYHOUSE_URL: 'URL of the service (default: http://127.0.0.1:8080)',
  TALLYHOUSE_API_KEY: 'API key, from tallyhouse key issue',
} as const

const DEFAULT_URL = 'http://127.0.0.1:8080'
/** What a header can carry. */
const KEY = /^[\x21-\x7e]+$/

/** @throws ConfigError that names the variable, and never the key */
export function readServiceAddress(env: NodeJS.ProcessEnv): ServiceAddress {
  // An empty value counts as not set.
  const text = [env['TALLYHOUSE_URL'], DEFAULT_URL].find((one) => one) ?? DEFAULT_URL
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || !['http:', 'https:'].includes(url.protocol) || url.username !== '') {
    throw new ConfigError('TALLYHOUSE_URL must be a URL such as https://stats.example')
  }
  const apiKey = env['TALLYHOUSE_API_KEY'] ?? ''
  if (apiKey === '') throw new ConfigError('TALLYHOUSE_API_KEY must be set to an API key')
  if (!KEY.test(apiKey)) throw new ConfigError('TALLYHOUSE_API_KEY must be an API key')
  return { url, apiKey }
}
