/** Which point of the chart is read: by pointer, by finger, or by keyboard. */
import type { TargetedFocusEvent, TargetedKeyboardEvent, TargetedPointerEvent } from 'preact'
import { useState } from 'preact/hooks'
import { findNearest, type Box } from '../../chart/layout.js'

/** @param count how many points there are; @param box where they lie; @param onZoom called with the index of a point to zoom into */
export function useReading(count: number, box: Box, onZoom: (index: number) => void) {
  const [active, setActive] = useState<number>()
  const [isTouch, setIsTouch] = useState(false)
  const stop = (): void => setActive(undefined)
  const read = (event: { clientX: number; currentTarget: HTMLElement }): void =>
    setActive(
      findNearest(event.clientX - event.currentTarget.getBoundingClientRect().left, count, box),
    )
  const zoom = (): void => {
    if (active !== undefined) onZoom(active)
  }
  return {
    /** The index of the point that is read; undefined while none is. */
    active,
    /** Zooms into the point that a finger reads; undefined if none does. */
    zoomByTouch: isTouch
      ? () => {
          stop()
          zoom()
        }
      : undefined,
    /** The handlers of the chart. */
    ofChart: {
      onPointerDown: ({ pointerType }: TargetedPointerEvent<HTMLElement>) =>
        setIsTouch(pointerType === 'touch'),
      onPointerMove: (event: TargetedPointerEvent<HTMLElement>) => {
        setIsTouch(event.pointerType === 'touch')
        // A touch elsewhere then takes the focus away, which ends the reading.
        if (event.pointerType === 'touch') event.currentTarget.focus({ preventScroll: true })
        read(event)
      },
      onPointerLeave: ({ pointerType }: TargetedPointerEvent<HTMLElement>) => {
        if (pointerType !== 'touch') stop()
      },
      onPointerCancel: stop,
      onFocus: ({ currentTarget }: TargetedFocusEvent<HTMLElement>) => {
        if (currentTarget.matches(':focus-visible')) setActive((at) => at ?? Math.max(0, count - 1))
      },
      // A finger cannot point without a tap, so its tap reads.
      onClick: (event: { clientX: number; currentTarget: HTMLElement }) =>
        isTouch ? read(event) : zoom(),
      onKeyDown: (event: TargetedKeyboardEvent<HTMLElement>) => {
        const target = findTarget(event.key, active ?? count - 1, count)
        if (event.key === 'Enter' && active !== undefined) zoom()
        else if (target === undefined) return
        else setActive(target)
        event.preventDefault()
      },
    },
    /** Called when the focus leaves the chart or what is beside it. */
    onFocusOut: ({ currentTarget, relatedTarget }: TargetedFocusEvent<HTMLElement>) => {
      if (!(relatedTarget instanceof Node && currentTarget.contains(relatedTarget))) stop()
    },
  }
}

/** The point that a key leads to; undefined for keys that lead nowhere. */
function findTarget(key: string, from: number, count: number): number | undefined {
  const targets: Readonly<Record<string, number>> = {
    ArrowLeft: from - 1,
    ArrowRight: from + 1,
    ArrowDown: from - 1,
    ArrowUp: from + 1,
    PageDown: from - 7,
    PageUp: from + 7,
    Home: 0,
    End: count - 1,
  }
  const target = targets[key]
  return target === undefined ? undefined : Math.min(count - 1, Math.max(0, target))
}
