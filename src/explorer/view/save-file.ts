/** Saves a file where the browser keeps downloads. */
export function saveFile(content: Blob, name: string): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(content)
  link.download = name
  link.click()
  // The browser has begun to read it after this turn.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000)
}
