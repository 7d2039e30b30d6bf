/** Measures an element, so that drawings are as wide as their place. */
import { useLayoutEffect, useRef, useState } from 'preact/hooks'

/** Returns what refers to an element, and its width in pixels; 0 until it is known. */
export function useWidth() {
  const ref = useRef<HTMLDivElement>(null)
  const [width, setWidth] = useState(0)
  useLayoutEffect(() => {
    const element = ref.current
    if (element === null) return
    const measure = (): void => setWidth(element.clientWidth)
    measure()
    const observer = new ResizeObserver(measure)
    observer.observe(element)
    return () => observer.disconnect()
  }, [])
  return { ref, width }
}
