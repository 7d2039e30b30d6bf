/** Files, in runtimes that have those of Node. */

/**
 * Writes a file that takes the place of another when all has been written, and is removed if something fails.
 * @throws the error of the parts, or of the file system
 */
export async function replaceFile(file: string, parts: AsyncIterable<Uint8Array>): Promise<void> {
  const fs = await import('node:fs/promises')
  const path = await import('node:path')
  const part = path.join(path.dirname(file), `.${path.basename(file)}.${crypto.randomUUID()}.part`)
  try {
    const out = await fs.open(part, 'wx')
    try {
      for await (const bytes of parts) await out.writeFile(bytes)
    } finally {
      await out.close()
    }
    await fs.rename(part, file)
  } catch (error) {
    await fs.rm(part, { force: true })
    throw error
  }
}
