/** SQL text with its parameters, in the order of their marks. */
export interface Sql {
  readonly text: string
  readonly values: readonly string[]
}

/** Builds SQL. An inserted text becomes a parameter of type VARCHAR, inserted SQL becomes a part of the text. */
export const sql = (parts: TemplateStringsArray, ...inserted: readonly (Sql | string)[]): Sql => {
  const pieces = inserted.map((one) =>
    typeof one === 'string' ? { text: '?', values: [one] } : one,
  )
  return {
    text: parts.map((part, i) => part + (pieces[i]?.text ?? '')).join(''),
    values: pieces.flatMap(({ values }) => values),
  }
}

/** Turns constant text of this folder into SQL, such as the name of a column. */
export const raw = (text: string): Sql => ({ text, values: [] })

export const join = (items: readonly Sql[], separator = ', '): Sql => ({
  text: items.map(({ text }) => text).join(separator),
  values: items.flatMap(({ values }) => values),
})

/** Joins conditions by `AND` or `OR`, in brackets. */
export const combine = (conditions: readonly Sql[], operator: 'AND' | 'OR'): Sql =>
  sql`(${join(conditions, ` ${operator} `)})`
