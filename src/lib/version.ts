/** Reads the version of this build. */
import { readFileSync } from 'node:fs'
import { packagePath } from './package-path.js'

/** Returns the version in package.json, e.g. `1.2.3`. */
export function readVersion(): string {
  const { version } = JSON.parse(readFileSync(packagePath('package.json'), 'utf8')) as {
    readonly version: string
  }
  return version
}
