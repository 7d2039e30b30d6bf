/** Generators whose first value was needed before the others. */

/** Yields a value that was taken from a generator, then the rest of the generator. */
export async function* continueWith<T>(
  first: IteratorResult<T, unknown>,
  rest: AsyncGenerator<T>,
): AsyncGenerator<T> {
  if (first.done !== true) yield first.value
  yield* rest
}
