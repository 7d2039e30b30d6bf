/** Sends raw bytes to an HTTP server, as no client library would. */
import net from 'node:net'
import { text } from 'node:stream/consumers'

/** One response as it was sent. */
export interface RawAnswer {
  readonly status: number
  readonly headers: ReadonlyMap<string, string>
  readonly body: string
}

/** Sends bytes, reads until the server closes the connection, and returns all responses. */
export async function exchange(
  port: number,
  bytes: string | Buffer,
): Promise<readonly RawAnswer[]> {
  const socket = net.connect(port, '127.0.0.1')
  socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes)
  const idle = setTimeout(() => socket.end(), 400)
  try {
    return parseAnswers(await text(socket.setEncoding('latin1')))
  } finally {
    clearTimeout(idle)
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
