/** Stops the engine after the last test of a run. */

export default async function globalTeardown(): Promise<void> {
  await globalThis.sharedEngine?.stop()
}
