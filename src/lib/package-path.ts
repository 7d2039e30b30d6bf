/** Finds the files of the package that are read at run time, from the sources as from the build. */
import { fileURLToPath } from 'node:url'

/** The folder that holds package.json: two above this file in `src/` and in `dist/`. */
const ROOT = new URL('../../', import.meta.url)

/** The absolute path of a file of the package, e.g. `packagePath('openapi/openapi.yaml')`. */
export const packagePath = (relative: string): string => fileURLToPath(new URL(relative, ROOT))
