/** Puts together what loaders need. */
import { finishDeletions } from '../deletion/finish-deletions.js'
import type { Geoip } from '../ingest/enrichment/geoip.js'
import type { LoaderContext } from '../ingest/loader/loader-context.js'

/** The context of every loader of the service; without `geoip`, addresses have no place. */
export const createLoaderContext = (geoip?: Geoip): LoaderContext => ({ geoip, finishDeletions })
