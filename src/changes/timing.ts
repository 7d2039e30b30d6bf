/**
 * The times by which writers and readers of the store agree. All are durations in one process, so clocks need not agree.
 *
 * A reader uses what it knows of the changes only for `KNOWLEDGE_MS` from the moment at which it began to look. A writer
 * waits for longer than that between the announcement of a change and its first visible row. So no reader gives an
 * earlier answer once a row is visible.
 */
import { SECOND_MS } from '../lib/time.js'

/** How often a reader looks, while it is asked. */
export const LOOK_INTERVAL_MS = 100
/** How long a reader uses what it saw. A look that takes longer was in vain. */
export const KNOWLEDGE_MS = 250
/** A reader that has not looked for this long reads all changes again. */
export const MEMORY_MS = 10 * SECOND_MS
/** How long a writer waits. The rest is for timers that end early. */
export const NOTICE_MS = 300
