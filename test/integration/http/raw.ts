/** Sends raw bytes to an HTTP server, as no client library would. */
import net from 'node:net'

/** One response as it was sent. */
export interface RawAnswer {
  readonly status: number
  readonly headers: ReadonlyMap<string, string>
  readonly body: string
}

/** How long a connection is kept after the last bytes of the server: more would show that it says more than it should. */
const QUIET_MS = 200

/**
 * Sends bytes, reads until the server closes the connection, or keeps it open and has answered, and returns all responses.
 *
 * @param count how many responses are waited for
 */
export async function exchange(
  port: number,
  bytes: string | Buffer,
  count = 1,
): Promise<readonly RawAnswer[]> {
  const socket = net.connect(port, '127.0.0.1').setEncoding('latin1')
  socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes)
  let received = ''
  let quiet: NodeJS.Timeout | undefined
  try {
    for await (const chunk of socket as AsyncIterable<string>) {
      received += chunk
      clearTimeout(quiet)
      if (parseAnswers(received).length >= count) quiet = setTimeout(() => socket.end(), QUIET_MS)
    }
    return parseAnswers(received)
  } finally {
    clearTimeout(quiet)
    socket.destroy()
  }
}

/** Splits the received text into responses. */
export function parseAnswers(received: string): readonly RawAnswer[] {
  const answers: RawAnswer[] = []
  for (let rest = received; rest !== '';) {
    const end = rest.indexOf('\r\n\r\n')
    const [statusLine = '', ...lines] = rest.slice(0, end).split('\r\n')
    const headers = new Map(
      lines.map((line) => {
        const colon = line.indexOf(':')
        return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()] as const
      }),
    )
    const status = Number(statusLine.split(' ')[1])
    const bodyEnd = end + 4 + Number(headers.get('content-length') ?? 0)
    if (status >= 200) answers.push({ status, headers, body: rest.slice(end + 4, bodyEnd) })
    rest = rest.slice(bodyEnd)
  }
  return answers
}
