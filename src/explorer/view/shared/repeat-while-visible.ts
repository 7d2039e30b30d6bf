/** Calls a function again and again while the page is looked at. Returns what ends that. */
export function repeatWhileVisible(browser: Window, ms: number, call: () => void): () => void {
  const timer = browser.setInterval(() => {
    if (browser.document.visibilityState === 'visible') call()
  }, ms)
  return () => browser.clearInterval(timer)
}
