/** Writes files of the engine's formats. */
import { getTestEndpoint } from '../engine/engine.js'

export type FileFormat = 'Parquet' | 'Arrow' | 'ArrowStream'

/** Writes the result of a SELECT to a file. */
export async function writeFile(
  format: FileFormat,
  select: string,
  settings: Readonly<Record<string, string>> = {},
): Promise<Buffer> {
  const { url, accounts } = getTestEndpoint()
  const { username, password } = accounts.admin
  const answer = await fetch(`${url}/?${new URLSearchParams(settings).toString()}`, {
    method: 'POST',
    headers: { Authorization: `Basic ${btoa(`${username}:${password}`)}` },
    body: `${select} FORMAT ${format}`,
  })
  const bytes = Buffer.from(await answer.arrayBuffer())
  if (!answer.ok) throw new Error(bytes.toString())
  return bytes
}
