/** Follows which point of the chart is read, and which stretch of points is selected: by pointer, by finger, or by keyboard. */
import type { TargetedFocusEvent, TargetedKeyboardEvent, TargetedPointerEvent } from 'preact'
import { useState } from 'preact/hooks'
import { findNearest, type Box } from '../chart/layout.js'

/** Zooms into a stretch of points, by the indexes of its first and its last one. */
export type Zoom = (first: number, last: number) => void

interface ReadingOptions {
  /** How many points there are. */
  readonly count: number
  /** The point that the keyboard begins with. */
  readonly latest: number
  /** Where they lie. */
  readonly box: Box
  readonly onZoom: Zoom
}

/** The point that is read, and the selection that ends at it. */
function useSelection() {
  const [active, setActive] = useState<number>()
  const [anchor, setAnchor] = useState<number>()
  return {
    active,
    setActive,
    /** Where the selection began; undefined while there is none. */
    anchor,
    setAnchor,
    /** The first and the last index of the points that are selected; undefined if at most one is. */
    selected:
      active === undefined || anchor === undefined || anchor === active
        ? undefined
        : ([Math.min(anchor, active), Math.max(anchor, active)] as const),
    stop: (): void => {
      setActive(undefined)
      setAnchor(undefined)
    },
  }
}

export function useReading({ count, latest, box, onZoom }: ReadingOptions) {
  const { active, setActive, anchor, setAnchor, selected, stop } = useSelection()
  const [isTouch, setIsTouch] = useState(false)
  const find = (event: { clientX: number; currentTarget: HTMLElement }): number =>
    findNearest(event.clientX - event.currentTarget.getBoundingClientRect().left, count, box)
  const zoom = (): void => {
    if (active !== undefined) onZoom(...(selected ?? ([active, active] as const)))
    setAnchor(undefined)
  }
  const press = (event: TargetedKeyboardEvent<HTMLElement>): void => {
    const target = findTarget(event.key, active ?? latest, count)
    if (event.key === 'Enter' && active !== undefined) zoom()
    else if (event.key === 'Escape' && anchor !== undefined) setAnchor(undefined)
    else if (target === undefined) return
    else {
      setAnchor(event.shiftKey ? (anchor ?? active) : undefined)
      setActive(target)
    }
    event.preventDefault()
  }
  return {
    active,
    selected,
    /** Zooms into the point that a finger reads; undefined if none does. */
    zoomByTouch: isTouch
      ? () => {
          stop()
          zoom()
        }
      : undefined,
    /** The handlers of the chart. */
    ofChart: {
      onPointerDown: (event: TargetedPointerEvent<HTMLElement>) => {
        setIsTouch(event.pointerType === 'touch')
        if (event.pointerType === 'touch' || event.button !== 0) return
        event.currentTarget.setPointerCapture(event.pointerId)
        setAnchor(find(event))
        setActive(find(event))
      },
      onPointerMove: (event: TargetedPointerEvent<HTMLElement>) => {
        setIsTouch(event.pointerType === 'touch')
        // A touch elsewhere then takes the focus away, which ends the reading.
        if (event.pointerType === 'touch') event.currentTarget.focus({ preventScroll: true })
        setActive(find(event))
      },
      onPointerUp: () => anchor !== undefined && zoom(),
      onPointerLeave: ({ pointerType }: TargetedPointerEvent<HTMLElement>) =>
        pointerType !== 'touch' && stop(),
      onPointerCancel: stop,
      onFocus: ({ currentTarget }: TargetedFocusEvent<HTMLElement>) =>
        currentTarget.matches(':focus-visible') && setActive((at) => at ?? latest),
      // A finger cannot point without a tap, so its tap reads.
      onClick: (event: { clientX: number; currentTarget: HTMLElement }) =>
        isTouch && setActive(find(event)),
      onKeyDown: press,
    },
    /** Called when the focus leaves the chart or what is beside it. */
    onFocusOut: (event: TargetedFocusEvent<HTMLElement>) => hasLeft(event) && stop(),
  }
}

/** Whether the focus goes elsewhere than into the element itself. */
export const hasLeft = ({
  currentTarget,
  relatedTarget,
}: TargetedFocusEvent<HTMLElement>): boolean =>
  !(relatedTarget instanceof Node && currentTarget.contains(relatedTarget))

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
