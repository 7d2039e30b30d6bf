/** Tells whether the store answers, without asking it at every probe. */

const LIFETIME_MS = 1_000

/** A probe whose answer counts for a second; callers that come together share one question. */
export function cachedProbe(probe: () => Promise<boolean>): () => Promise<boolean> {
  let asked = -Infinity
  let answer: Promise<boolean> | undefined
  return () => {
    const now = performance.now()
    if (answer === undefined || now - asked > LIFETIME_MS) {
      asked = now
      answer = probe()
    }
    return answer
  }
}
