// A table of any length: only the rows near the visible ones are in the page, and its head is inside of the
// box that scrolls. One Tab stop: arrows, j and k move between rows, Enter or a click opens one. While one is
// open, moving opens the next.

import { useVirtualizer } from '@tanstack/react-virtual'
import { type JSX, type ReactNode, useEffect, useRef, useState } from 'react'
import { type ColumnWidths, useColumnWidths } from './column-widths.ts'
import { isTyping, stepFrom, useKeys } from './keys.ts'
import { useMedia } from './media.ts'
import './table.css'

export interface Column<Item> {
  readonly key: string
  readonly head: string
  /** As a track of a grid. */
  readonly width: string
  readonly cell: (item: Item) => ReactNode
  /** Aligned at the right. */
  readonly isNumber?: boolean
  /** Left out where there is little room; the drawer of a row has it. */
  readonly isExtra?: boolean
  readonly isSorted?: 'ascending' | 'descending' | undefined
  readonly onSort?: () => void
}

interface TableProps<Item> {
  label: string
  columns: readonly Column<Item>[]
  items: readonly Item[]
  keyOf: (item: Item) => string
  /** The height of a row. */
  px: number
  onOpen: (item: Item) => void
  /** The one that is open, beside the table. */
  openKey?: string | undefined
  className?: string
  onNearEnd?: () => void
}

/** `columns`, `onOpen` and `onNearEnd` keep their identity until they change. */
export function Table<Item>(props: TableProps<Item>): JSX.Element {
  const { label, items, keyOf, px, onOpen, openKey, className = '', onNearEnd } = props
  const isNarrow = useMedia('narrow')
  const columns = isNarrow ? props.columns.filter((one) => one.isExtra !== true) : props.columns
  const place = useRef<HTMLDivElement>(null)
  const [current, setCurrent] = useState<string>()
  const found = items.findIndex((item) => keyOf(item) === (openKey ?? current))
  const at = Math.max(0, found)
  const rows = useVirtualizer({
    count: items.length,
    getScrollElement: () => place.current,
    estimateSize: () => px,
    overscan: 8,
  })
  // biome-ignore lint/correctness/useExhaustiveDependencies: rows of another height are measured again
  useEffect(() => rows.measure(), [rows, px])
  const shown = rows.getVirtualItems()
  const isNearEnd = (shown.at(-1)?.index ?? 0) > items.length - 30
  useEffect(() => {
    if (isNearEnd) onNearEnd?.()
  }, [isNearEnd, onNearEnd])
  const move = (to: number) => {
    const item = items[to]
    if (item === undefined) return
    setCurrent(keyOf(item))
    rows.scrollToIndex(items.indexOf(item))
    if (openKey !== undefined) onOpen(item)
    const key = keyOf(item)
    requestAnimationFrame(() => findRow(place.current, key)?.focus({ preventScroll: true }))
  }
  // Arrows inside of the table; j and k also beside it, while a row is open.
  useKeys(({ key }, target) => {
    const isBeside = openKey !== undefined && /^[jk]$/.test(key) && !isTyping(target)
    const isInside = place.current?.contains(target) === true
    const page = Math.floor((place.current?.clientHeight ?? px) / px) - 2
    const to = stepFrom(key, at, { page, last: items.length - 1 })
    if (to === undefined || (!isInside && (!isBeside || target.closest('.scrim') !== null)))
      return false
    move(to)
    return true
  })
  const widths = useColumnWidths(label)
  const tracks = columns.map(({ head, width }) => widths.of(head) ?? width)
  const style = { '--columns': tracks.join(' ') } as React.CSSProperties
  return (
    <div ref={place} className={`scroll long-list ${className}`} style={style}>
      {/* biome-ignore lint/a11y/noNoninteractiveElementToInteractiveRole: its rows are opened */}
      <table role="grid" aria-label={label} aria-rowcount={items.length + 1}>
        <Heads columns={columns} widths={widths} />
        <tbody style={{ height: rows.getTotalSize() }}>
          {shown.map(({ index, start }) => {
            const item = items[index] as Item
            const key = keyOf(item)
            return (
              <tr
                key={key}
                className="grid-row"
                data-key={key}
                aria-rowindex={index + 2}
                aria-selected={key === openKey}
                tabIndex={index === at ? 0 : -1}
                style={{ height: px, transform: `translateY(${start}px)` }}
                onFocus={() => setCurrent(key)}
                onClick={(event) => !isControl(event.target) && onOpen(item)}
                onKeyDown={(event) => {
                  if (event.key === 'Enter' && !isControl(event.target)) onOpen(item)
                }}
              >
                {columns.map((column) => (
                  <td key={column.head} data-column={column.key} data-number={column.isNumber}>
                    {column.cell(item)}
                  </td>
                ))}
              </tr>
            )
          })}
        </tbody>
      </table>
    </div>
  )
}

interface HeadsProps<Item> {
  readonly columns: readonly Column<Item>[]
  readonly widths: ColumnWidths
}

function Heads<Item>({ columns, widths }: HeadsProps<Item>): JSX.Element {
  return (
    <thead>
      <tr className="grid-row grid-head">
        {columns.map(({ key, head, isNumber, isSorted, onSort }) => (
          <th key={head} data-column={key} data-number={isNumber} aria-sort={isSorted}>
            {onSort === undefined ? (
              head
            ) : (
              <button type="button" title={`Sort by ${head.toLowerCase()}`} onClick={onSort}>
                {head}
                {isSorted !== undefined && (isSorted === 'ascending' ? ' ↑' : ' ↓')}
              </button>
            )}
            {/* For the mouse: what is cut is whole in the drawer of its row. */}
            <span
              className="column-edge"
              aria-hidden="true"
              title="Drag to change the width, double-click to reset it"
              onPointerDown={(event) => widths.drag(head, event)}
              onDoubleClick={() => widths.reset(head)}
            />
          </th>
        ))}
      </tr>
    </thead>
  )
}

function findRow(place: HTMLElement | null, key: string): HTMLElement | null {
  return place?.querySelector<HTMLElement>(`[data-key="${CSS.escape(key)}"]`) ?? null
}

/** A button or link inside of a row does its own. */
function isControl(target: EventTarget): boolean {
  return target instanceof Element && target.closest('button, a') !== null
}
