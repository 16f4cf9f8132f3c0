// The board: one column per action, with tools and whole categories in it, to be dragged from one
// to another with the pointer, or picked up by the grip and dropped in a column with keyboard or
// tap. A rule that is more than an action has a lock and is edited in
// the text; guardrails that apply are a shield. A column may have
// ten thousand pieces: only the visible ones are rendered.

import { defaultRangeExtractor, useVirtualizer } from '@tanstack/react-virtual'
import { Fragment, type JSX, memo, useCallback, useEffect, useMemo, useRef, useState } from 'react'
import type {
  BoardTool,
  PolicyDraft,
} from '../../../../packages/sluice/src/admin/contract/contract.ts'
import { Icon } from '../../ui/icons.tsx'
import { OutcomeBadge, toOutcomeLabel } from '../../ui/marks.tsx'
import { UntrustedText } from '../../ui/text.tsx'
import { showToast } from '../../ui/toasts.tsx'
import { count, plural } from '../../ui/words.ts'
import type { BoardMove } from './draft.ts'
import { useRuleDrag } from './drag-rule.ts'

const COLUMNS = [
  { action: 'allow', says: 'Allow' },
  { action: 'require_approval', says: 'Ask' },
  { action: 'deny', says: 'Deny' },
  { action: 'hide', says: 'Hide' },
] as const

/** A piece and the gap after it, and the space before the first. */
const PIECE_PX = 64
const BEFORE_PX = 8

interface Item {
  readonly id: string
  readonly name: string
  /** The title of the piece. */
  readonly title: string
  readonly detail: string
  readonly risk: string | null
  readonly lock: string
  readonly guardrails: readonly string[]
  readonly limits: readonly string[]
  readonly column: string
  readonly move: (to: string) => BoardMove
}

export function Board({
  board,
  filter,
  onMove,
  onLocked,
}: {
  board: NonNullable<PolicyDraft['board']>
  filter: string
  onMove: (move: BoardMove) => void
  onLocked: (rule: string) => void
}): JSX.Element {
  const common = useMemo(() => findCommon(board.tools), [board])
  const items = useMemo(
    () => [
      ...listCategories(board),
      ...board.tools.toSorted(ownLast).map((tool) => toItem(tool, common)),
    ],
    [board, common],
  )
  const wanted = filter.toLowerCase()
  const columns = useMemo(() => {
    const shown =
      wanted === '' ? items : items.filter(({ id }) => id.toLowerCase().includes(wanted))
    return COLUMNS.map(({ action }) => shown.filter(({ column }) => column === action))
  }, [items, wanted])
  const [place, setPlace] = useState<HTMLDivElement | null>(null)
  const { taken } = useRuleDrag(place, (id, to) => {
    const item = items.find((one) => one.id === id)
    if (item === undefined || item.column === to) return
    if (item.lock !== '') {
      showToast(`${item.name}: ${item.lock}. Change it in the text.`, { kind: 'bad' })
      return onLocked(item.name)
    }
    onMove(item.move(to))
  })
  const name = items.find(({ id }) => id === taken)?.name
  return (
    <div className="board" ref={setPlace}>
      <p className="visually-hidden" role="status">
        {name !== undefined && `Moving ${name}: Tab to a column, Enter puts it there, Escape not`}
      </p>
      {common.length > 0 && (
        <p className="small board-strip">
          <Icon name="shield" size={12} /> Every tool is under: <b>{common.join(', ')}</b>
        </p>
      )}
      {COLUMNS.map(({ action, says }, at) => (
        <Column key={action} action={action} says={says} moving={name} items={columns[at] ?? []} />
      ))}
    </div>
  )
}

const Column = memo(function Column({
  action,
  says,
  items,
  moving,
}: {
  action: string
  says: string
  items: readonly Item[]
  /** The piece that is picked up. */
  moving: string | undefined
}): JSX.Element {
  const [place, setPlace] = useState<HTMLUListElement | null>(null)
  const current = useCurrent(place, items.length)
  const pieces = useVirtualizer({
    count: items.length,
    getScrollElement: () => place,
    estimateSize: () => PIECE_PX,
    overscan: 6,
    // The current piece is always rendered: it may have the focus.
    rangeExtractor: (range) => [...new Set([...defaultRangeExtractor(range), current])],
  })
  const tools = useMemo(() => items.filter(({ id }) => !id.startsWith('category:')).length, [items])
  return (
    <section
      className={`column ${toOutcomeLabel(action)}-column`}
      aria-label={says}
      data-column={action}
    >
      <header className="column-head">
        <OutcomeBadge word={toOutcomeLabel(action)} says={says} />
        {moving === undefined ? (
          <span className="muted num small">{count(tools)}</span>
        ) : (
          <button type="button" className="drop-here" aria-label={`Put ${moving} under ${says}`}>
            Put it here
          </button>
        )}
      </header>
      {items.length === 0 && <p className="column-empty muted small">Drop a tool here</p>}
      <ul
        ref={setPlace}
        aria-label={`Tools: ${says}`}
        className="column-list"
        tabIndex={-1}
        inert={moving !== undefined}
      >
        <li className="column-length" aria-hidden style={{ height: getHeight(items.length) }} />
        {pieces.getVirtualItems().map(({ index: at }) => {
          const item = items[at]
          return item === undefined ? null : (
            <Piece key={item.id} item={item} at={at} of={items.length} isCurrent={at === current} />
          )
        })}
      </ul>
    </section>
  )
})

const Piece = memo(function Piece({
  item,
  at,
  of,
  isCurrent,
}: {
  item: Item
  at: number
  of: number
  /** Reached by Tab; arrow keys move from there. */
  isCurrent: boolean
}): JSX.Element {
  return (
    <li
      className="piece"
      draggable
      data-id={item.id}
      data-at={at}
      aria-setsize={of}
      aria-posinset={at + 1}
      style={{ transform: `translateY(${BEFORE_PX + at * PIECE_PX}px)` }}
      title={item.name}
    >
      <button
        type="button"
        className="grip"
        aria-label={`Move ${item.name}`}
        tabIndex={isCurrent ? 0 : -1}
      >
        <Icon name={item.lock === '' ? 'grip' : 'lock'} />
      </button>
      <div className="piece-body">
        <bdi className="cut strong">
          {item.title.split(/(?<=[_./-])/).map((part, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the parts of one name never move
            <Fragment key={at}>
              <UntrustedText text={part} />
              <wbr />
            </Fragment>
          ))}
        </bdi>
        <span className="row piece-detail">
          <span className="muted small cut">{item.detail}</span>
          {(item.risk === 'high' || item.risk === 'critical') && (
            <span className={`tag ${item.risk}`}>{item.risk}</span>
          )}
          {item.lock !== '' && (
            <span className="tag medium" title={item.lock}>
              conditions
            </span>
          )}
          {item.guardrails.length > 0 && (
            <span className="tag" title={`Guardrails: ${item.guardrails.join(', ')}`}>
              <Icon name="shield" size={10} />
              <span className="visually-hidden">guardrails: {item.guardrails.join(', ')}</span>
            </span>
          )}
          {item.limits.length > 0 && (
            <span className="tag cut" title={item.limits.join(', ')}>
              {item.limits.join(', ')}
            </span>
          )}
        </span>
      </div>
    </li>
  )
})

/** The piece that arrow keys have moved to; it is scrolled to and focused. */
function useCurrent(place: HTMLElement | null, length: number): number {
  const [current, setCurrent] = useState(0)
  const follows = useRef(false)
  const step = useCallback(
    (event: KeyboardEvent) => {
      const at = Number((event.target as Element).closest<HTMLElement>('.piece')?.dataset.at)
      const page = Math.max(1, Math.floor((place?.clientHeight ?? 0) / PIECE_PX) - 1)
      const steps: Readonly<Record<string, number>> = {
        ArrowDown: at + 1,
        ArrowUp: at - 1,
        PageDown: at + page,
        PageUp: at - page,
        Home: 0,
        End: length - 1,
      }
      const to = steps[event.key]
      if (to === undefined || Number.isNaN(at)) return
      event.preventDefault()
      follows.current = true
      setCurrent(Math.max(0, Math.min(length - 1, to)))
    },
    [place, length],
  )
  useEffect(() => {
    place?.addEventListener('keydown', step)
    return () => place?.removeEventListener('keydown', step)
  }, [place, step])
  useEffect(() => {
    if (!follows.current) return
    follows.current = false
    const piece = place?.querySelector<HTMLElement>(`.piece[data-at="${current}"]`)
    piece?.scrollIntoView({ block: 'nearest' })
    piece?.querySelector<HTMLElement>('.grip')?.focus({ preventScroll: true })
  }, [place, current])
  return Math.min(current, Math.max(0, length - 1))
}

function getHeight(pieces: number): number {
  return pieces === 0 ? 0 : BEFORE_PX + pieces * PIECE_PX
}

function listCategories(board: NonNullable<PolicyDraft['board']>): Item[] {
  return board.categories.map(({ name, action, lock, tools }) => ({
    id: `category:${name}`,
    name: `All of ${name}`,
    title: `All of ${name}`,
    lock,
    risk: null,
    guardrails: [],
    limits: [],
    detail: `${plural(tools, 'tool')}${action === 'default' ? ', by default' : ''}`,
    column: action === 'default' ? board.fallback : action,
    move: (to) => ({ category: name, to }),
  }))
}

/** The gate's own tools for agents are many, and seldom what one looks for. */
const isOwn = ({ name }: BoardTool): number => Number(name.startsWith('wasm_agent_'))
const ownLast = (one: BoardTool, other: BoardTool): number => isOwn(one) - isOwn(other)

/** Guardrails that every tool is under: said once, above the board. */
function findCommon(tools: readonly BoardTool[]): readonly string[] {
  const [first, ...others] = tools
  return (first?.guardrails ?? []).filter((name) =>
    others.every(({ guardrails }) => guardrails.includes(name)),
  )
}

function toItem(tool: BoardTool, common: readonly string[]): Item {
  const { server, name, category, unknown, risk, lock, guardrails, limits, column } = tool
  return {
    id: `${server}/${name}`,
    name: `${server}/${name}`,
    title: name,
    lock,
    risk: unknown ? null : risk,
    // Beside a risk there is room for one of the two.
    detail:
      !unknown && (risk === 'high' || risk === 'critical')
        ? server
        : `${server} · ${unknown ? `unknown, perhaps ${category}` : category}`,
    guardrails: guardrails.filter((one) => !common.includes(one)),
    limits,
    column,
    move: (to) => ({ tool: `${server}/${name}`, to }),
  }
}
