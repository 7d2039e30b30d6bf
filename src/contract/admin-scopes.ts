/** The scopes of admin keys: what a key may do with projects. */

export const ADMIN_SCOPES = [
  'projects:read',
  'projects:write',
  'keys:write',
  'users:delete',
  'notes:write',
  'imports:write',
  'usage:read',
  'audit:read',
  'analytics:read',
] as const

export type AdminScope = (typeof ADMIN_SCOPES)[number]

export const isAdminScope = (text: string): text is AdminScope =>
  ADMIN_SCOPES.some((scope) => scope === text)
