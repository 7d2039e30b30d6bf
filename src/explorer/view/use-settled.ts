/** What waits for the numbers of a page: what takes a browser long to build, and is seldom looked at. */
import { useEffect, useState } from 'preact/hooks'

/** What such a part is told. */
export interface Settling {
  readonly isSettled: boolean
}

/** Whether the page has had its first numbers, or has learned that there are none. */
export function useSettled(isAsking: boolean): boolean {
  const [isSettled, setSettled] = useState(false)
  useEffect(() => {
    if (!isAsking) setSettled(true)
  }, [isAsking])
  return isSettled
}
