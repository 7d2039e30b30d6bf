/** Counts names, each of which may be added several times. */

export interface NameCounter {
  readonly has: (name: string) => boolean
  /** Adds names. Returns a function that takes them away again. */
  readonly add: (names: readonly string[]) => () => void
}

export function createNameCounter(): NameCounter {
  const counts = new Map<string, number>()
  const change = (name: string, by: number): void => {
    const count = (counts.get(name) ?? 0) + by
    if (count === 0) counts.delete(name)
    else counts.set(name, count)
  }
  return {
    has: (name) => counts.has(name),
    add: (names) => {
      for (const name of names) change(name, 1)
      return () => names.forEach((name) => change(name, -1))
    },
  }
}
