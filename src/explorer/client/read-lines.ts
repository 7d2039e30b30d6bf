/** Reads lines while they arrive. */

/**
 * Yields the lines of a text, those that arrived together at once. What follows the last line feed is no line.
 *
 * @param onError throws what is to be thrown if the text breaks off
 */
export async function* readLines(
  stream: ReadableStream<Uint8Array>,
  onError: (error: unknown) => never,
): AsyncGenerator<readonly string[]> {
  const reader = stream.getReader()
  const decoder = new TextDecoder()
  let rest = ''
  for (;;) {
    const { done, value } = await reader.read().catch(onError)
    if (done) return
    const lines = (rest + decoder.decode(value, { stream: true })).split('\n')
    rest = lines.pop() ?? ''
    if (lines.length > 0) yield lines
  }
}
