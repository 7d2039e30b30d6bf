/** Locates the files of the package that are read at run time, from the sources as well as from the build. */
import { fileURLToPath } from 'node:url'

/** The folder of package.json: two levels above this file in `src/` and in `dist/`. */
const ROOT = new URL('../../', import.meta.url)

/** Returns the absolute path of a file of the package, e.g. `packagePath('openapi/openapi.yaml')`. */
export const packagePath = (relative: string): string => fileURLToPath(new URL(relative, ROOT))
