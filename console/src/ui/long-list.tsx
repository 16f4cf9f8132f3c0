// A virtual list of any length: only the rows near the visible ones are in the page. Rows have one
// height and each is rendered once: scrolling renders the few new ones, and moves none of the
// others.

import {
  type ComponentType,
  type JSX,
  type ReactNode,
  useEffect,
  useLayoutEffect,
  useState,
} from 'react'

/** Rows are added and removed in steps of this many, and as many are kept ready above and below. */
const STEP = 4
const FIRST_ROWS = 40

export interface VisibleRange {
  readonly first: number
  /** After the last. */
  readonly end: number
}

/** Which rows of a scrolling element are to be rendered. */
export function useShown(place: HTMLElement | null, count: number, px: number): VisibleRange {
  const [at, setAt] = useState({ first: 0, rows: FIRST_ROWS })
  useLayoutEffect(() => {
    if (place === null) return
    const look = () => {
      const first = Math.max(0, Math.floor(place.scrollTop / px / STEP) - 1) * STEP
      const rows = Math.ceil(place.clientHeight / px) + STEP * 3
      setAt((had) => (had.first === first && had.rows === rows ? had : { first, rows }))
    }
    look()
    place.addEventListener('scroll', look, { passive: true })
    const resized = new ResizeObserver(look)
    resized.observe(place)
    return () => {
      place.removeEventListener('scroll', look)
      resized.disconnect()
    }
  }, [place, px])
  const first = Math.min(at.first, Math.max(0, count - at.rows))
  return { first, end: Math.min(count, first + at.rows) }
}

export interface RowOf<Item> {
  readonly item: Item
  readonly onOpen: (item: Item) => void
}

/** `Row` is a memo, and `onOpen` and `keyOf` keep their identity. */
export function VirtualList<Item>({
  items,
  px,
  keyOf,
  Row,
  onOpen,
  className,
  head,
  onNearEnd,
}: {
  items: readonly Item[]
  px: number
  keyOf: (item: Item) => string | number
  Row: ComponentType<RowOf<Item>>
  onOpen: (item: Item) => void
  className: string
  /** The names of the columns. */
  head?: ReactNode
  onNearEnd?: () => void
}): JSX.Element {
  const [place, setPlace] = useState<HTMLDivElement | null>(null)
  const { first, end } = useShown(place, items.length, px)
  const isNearEnd = end > items.length - 30
  useEffect(() => {
    if (isNearEnd) onNearEnd?.()
  }, [isNearEnd, onNearEnd])
  return (
    <div ref={setPlace} className={`long-list ${className}`}>
      {head !== undefined && <div className="list-head">{head}</div>}
      <ul style={{ height: items.length * px, paddingTop: first * px }}>
        {items.slice(first, end).map((item) => (
          <li key={keyOf(item)} style={{ height: px }}>
            <Row item={item} onOpen={onOpen} />
          </li>
        ))}
      </ul>
    </div>
  )
}
