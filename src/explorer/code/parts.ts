/** Code as parts of text, some of which are not to be seen by everybody who looks at the screen. */

export interface Secret {
  readonly secret: string
}
export type CodePart = string | Secret

/** The whole text of a code. */
export const joinCode = (parts: readonly CodePart[]): string =>
  parts.map((part) => (typeof part === 'string' ? part : part.secret)).join('')
