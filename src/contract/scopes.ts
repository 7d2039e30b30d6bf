/** The scopes of API keys: what a key may do. */

/** `read`: all queries, and the project. `export`: single events. */
export const SCOPES = ['read', 'export'] as const

export type Scope = (typeof SCOPES)[number]

/** The scopes of a key that is issued without any being named, and of all keys from before there were scopes. */
export const DEFAULT_SCOPES: readonly Scope[] = ['read']

export const isScope = (text: string): text is Scope => SCOPES.some((scope) => scope === text)
