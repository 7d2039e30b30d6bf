/** The formats of variables' values: what each must be, and its parser. */
import path from 'node:path'

/** What the name of a shard is made of. */
export const SHARD_NAME = /^[A-Za-z0-9_-]{1,64}$/

export const anyText = { format: 'text', parse: (text: string) => text }
export const password = { ...anyText, secret: true } as const
/** A name below `/` that no other route of the service has. */
export const scriptName = {
  format: 'a file name of letters, digits, -, _ and . that ends in .js, such as hello.js',
  parse: (text: string) => (/^[A-Za-z0-9_.-]+\.js$/.test(text) ? text : undefined),
}
export const filePath = { format: 'a path', parse: (text: string) => path.resolve(text) }
export const integer = (min: number, max: number) => ({
  format: `an integer from ${min} to ${max}`,
  parse: (text: string) =>
    /^\d{1,15}$/.test(text) && Number(text) >= min && Number(text) <= max
      ? Number(text)
      : undefined,
})
export const names = {
  format: 'all, none, or names of shards separated by commas',
  parse: (text: string): 'all' | 'none' | readonly string[] | undefined => {
    if (text === 'all' || text === 'none') return text
    const listed = text.split(',').map((name) => name.trim())
    return listed.every((name) => SHARD_NAME.test(name)) ? listed : undefined
  },
}
export const oneOf = <Value extends string>(values: readonly Value[]) => ({
  format: `one of ${values.join(', ')}`,
  parse: (text: string) => values.find((value) => value === text),
})
