// Widths of the columns of a table that a person has dragged, stored in the browser under the label of the table.

import { attempt } from '@sluice/policy/structures/attempt'
import { type PointerEvent, useState } from 'react'
import { readChoice, storeChoice } from '../stored-choice.ts'

const WIDTH_MIN_PX = 48
const WIDTH_MAX_PX = 900

/** In pixels, by the head of the column. */
type Widths = Readonly<Record<string, number>>

export interface ColumnWidths {
  /** As a track of a grid; undefined if it was not changed. */
  readonly of: (head: string) => string | undefined
  /** Follows the pointer until it is let go. */
  readonly drag: (head: string, event: PointerEvent<HTMLElement>) => void
  readonly reset: (head: string) => void
}

export function useColumnWidths(label: string): ColumnWidths {
  const key = `sluice-columns-${label}`
  const [widths, setWidths] = useState<Widths>(() =>
    attempt(() => JSON.parse(readChoice(key) ?? '{}') as Widths, {}),
  )
  const store = (next: Widths) => {
    setWidths(next)
    storeChoice(key, JSON.stringify(next))
  }
  return {
    of: (head) => (widths[head] === undefined ? undefined : `minmax(0, ${widths[head]}px)`),
    drag: (head, event) => {
      const edge = event.currentTarget
      const startPx = edge.parentElement?.getBoundingClientRect().width ?? WIDTH_MIN_PX
      const startX = event.clientX
      edge.setPointerCapture(event.pointerId)
      edge.onpointermove = ({ clientX }) => {
        const px = Math.min(WIDTH_MAX_PX, Math.max(WIDTH_MIN_PX, startPx + clientX - startX))
        store({ ...widths, [head]: Math.round(px) })
      }
      edge.onlostpointercapture = () => {
        edge.onpointermove = null
      }
    },
    reset: (head) => {
      const { [head]: _, ...others } = widths
      store(others)
    },
  }
}
