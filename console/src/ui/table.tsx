// A table of any length: only the rows near the visible ones are in the page, and its head is inside of the
// box that scrolls. One Tab stop: arrows, j and k move between rows, Enter or a click opens one. While one is
// open, moving opens the next.

import { useVirtualizer } from '@tanstack/react-virtual'
import { type JSX, type ReactNode, useEffect, useMemo, useRef, useState } from 'react'
import './table.css'

export interface Column<Item> {
  readonly key: string
  readonly head: string
  /** As a track of a grid. */
  readonly width: string
  readonly cell: (item: Item) => ReactNode
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
  const { label, columns, items, keyOf, px, onOpen, openKey, className = '', onNearEnd } = props
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
    const item = items[Math.max(0, Math.min(items.length - 1, to))]
    if (item === undefined) return
    setCurrent(keyOf(item))
    rows.scrollToIndex(items.indexOf(item))
    if (openKey !== undefined) onOpen(item)
    const key = keyOf(item)
    requestAnimationFrame(() => findRow(place.current, key)?.focus({ preventScroll: true }))
  }
  useRowKeys(place, { at, last: items.length - 1, isOpen: openKey !== undefined, px, move })
  const style = useMemo(
    () => ({ '--columns': columns.map(({ width }) => width).join(' ') }) as React.CSSProperties,
    [columns],
  )
  return (
    <div ref={place} className={`long-list ${className}`} style={style}>
      {/* biome-ignore lint/a11y/noNoninteractiveElementToInteractiveRole: its rows are opened */}
      <table role="grid" aria-label={label} aria-rowcount={items.length + 1}>
        <Heads columns={columns} />
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
                  <td key={column.head} data-column={column.key}>
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

function Heads<Item>({ columns }: { columns: readonly Column<Item>[] }): JSX.Element {
  return (
    <thead>
      <tr className="grid-row grid-head">
        {columns.map(({ key, head, isSorted, onSort }) => (
          <th key={head} data-column={key} aria-sort={isSorted}>
            {onSort === undefined ? (
              head
            ) : (
              <button type="button" title={`Sort by ${head.toLowerCase()}`} onClick={onSort}>
                {head}
                {isSorted !== undefined && (isSorted === 'ascending' ? ' ↑' : ' ↓')}
              </button>
            )}
          </th>
        ))}
      </tr>
    </thead>
  )
}

/** Arrows inside of the table; j and k also beside it, while a row is open. */
function useRowKeys(
  place: React.RefObject<HTMLDivElement | null>,
  keys: { at: number; last: number; isOpen: boolean; px: number; move: (to: number) => void },
): void {
  const latest = useRef(keys)
  latest.current = keys
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      const { at, last, isOpen, px, move } = latest.current
      const target = event.target as Element
      const isInside = place.current?.contains(target) === true
      const isBeside = isOpen && /^[jk]$/.test(event.key) && !isTyping(target)
      if ((!isInside && !isBeside) || event.metaKey || event.ctrlKey || event.altKey) return
      const page = Math.floor((place.current?.clientHeight ?? px) / px) - 2
      const to = stepFrom(event.key, at, { page, last })
      if (to === undefined) return
      event.preventDefault()
      move(to)
    }
    window.addEventListener('keydown', press)
    return () => window.removeEventListener('keydown', press)
  }, [place])
}

function findRow(place: HTMLElement | null, key: string): HTMLElement | null {
  return place?.querySelector<HTMLElement>(`[data-key="${CSS.escape(key)}"]`) ?? null
}

function stepFrom(
  key: string,
  at: number,
  { page, last }: { page: number; last: number },
): number | undefined {
  const steps: Readonly<Record<string, number>> = {
    ArrowDown: at + 1,
    j: at + 1,
    ArrowUp: at - 1,
    k: at - 1,
    PageDown: at + page,
    PageUp: at - page,
    Home: 0,
    End: last,
  }
  return steps[key]
}

function isTyping(target: Element): boolean {
  return target.closest('input, textarea, select, .cm-editor, .scrim') !== null
}

/** A button or link inside of a row does its own. */
function isControl(target: EventTarget): boolean {
  return target instanceof Element && target.closest('button, a') !== null
}
