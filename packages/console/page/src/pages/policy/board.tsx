// The board: one column per action, with tools and whole categories in it, to be dragged from one
// to another with the pointer, or picked up by the grip and dropped in a column with keyboard or
// tap. Tools are under their server, which can be folded. A rule that is more than an action has a lock and is
// edited in the text, with its condition in words; guardrails that apply are a shield. A column may have ten
// thousand pieces: only the visible ones are rendered.

import { defaultRangeExtractor, useVirtualizer } from '@tanstack/react-virtual'
import { Fragment, type JSX, memo, useCallback, useEffect, useMemo, useRef, useState } from 'react'
import type { BoardTool, PolicyDraft } from '../../../../src/contract/contract.ts'
import { Icon } from '../../ui/icons.tsx'
import { stepFrom } from '../../ui/keys.ts'
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

/** A piece or the head of a server, with the gap after it, and the space before the first. */
const PIECE_PX = 64
const HEAD_PX = 28
const BEFORE_PX = 8

interface Item {
  readonly id: string
  /** Empty for a category. */
  readonly server: string
  readonly name: string
  /** The title of the piece. */
  readonly title: string
  readonly detail: string
  readonly risk: string | null
  readonly lock: string
  readonly condition: string
  readonly guardrails: readonly string[]
  readonly limits: readonly string[]
  readonly column: string
  readonly move: (to: string) => BoardMove
}

/** The head of a server's tools in a column. */
interface ServerHead {
  readonly head: string
  readonly tools: number
  readonly isOpen: boolean
}

interface BoardProps {
  readonly board: NonNullable<PolicyDraft['board']>
  readonly filter: string
  readonly onMove: (move: BoardMove) => void
  readonly onLocked: (rule: string) => void
}

export function Board({ board, filter, onMove, onLocked }: BoardProps): JSX.Element {
  const common = useMemo(() => findCommon(board.tools), [board])
  const items = useMemo(
    () => [...listCategories(board), ...board.tools.map((tool) => toItem(tool, common))],
    [board, common],
  )
  const [folded, setFolded] = useState<ReadonlySet<string>>(() => listOwnServers(board.tools))
  const fold = useCallback((server: string) => {
    setFolded((before) => {
      const others = [...before].filter((one) => one !== server)
      return new Set(before.has(server) ? others : [...others, server])
    })
  }, [])
  const wanted = filter.toLowerCase()
  const columns = useMemo(() => {
    const shown = items.filter(({ id }) => id.toLowerCase().includes(wanted))
    return COLUMNS.map(({ action }) =>
      groupByServer(
        shown.filter(({ column }) => column === action),
        wanted === '' ? folded : new Set(),
      ),
    )
  }, [items, wanted, folded])
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
        <Column
          key={action}
          action={action}
          says={says}
          moving={name}
          items={columns[at] ?? []}
          onFold={fold}
        />
      ))}
    </div>
  )
}

const Column = memo(function Column({
  action,
  says,
  items,
  moving,
  onFold,
}: {
  action: string
  says: string
  items: readonly (Item | ServerHead)[]
  /** The piece that is picked up. */
  moving: string | undefined
  onFold: (server: string) => void
}): JSX.Element {
  const [place, setPlace] = useState<HTMLUListElement | null>(null)
  const current = useCurrent(place, items.length)
  const pieces = useVirtualizer({
    count: items.length,
    getScrollElement: () => place,
    estimateSize: (at) => ('head' in (items[at] ?? {}) ? HEAD_PX : PIECE_PX),
    paddingStart: BEFORE_PX,
    overscan: 6,
    // The current piece is always rendered: it may have the focus.
    rangeExtractor: (range) => [...new Set([...defaultRangeExtractor(range), current])],
  })
  // biome-ignore lint/correctness/useExhaustiveDependencies: heads and pieces differ in height
  useEffect(() => pieces.measure(), [items])
  const tools = items.reduce((sum, item) => sum + ('head' in item ? item.tools : 0), 0)
  return (
    <section className={`column ${toOutcomeLabel(action)}`} aria-label={says} data-column={action}>
      <header className="row spread column-head">
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
        className="column-list scroll"
        tabIndex={-1}
        inert={moving !== undefined}
      >
        <li aria-hidden style={{ height: items.length === 0 ? 0 : pieces.getTotalSize() }} />
        {pieces.getVirtualItems().map(({ index: at, start }) => {
          const item = items[at]
          if (item === undefined) return null
          const place = { at, of: items.length, startPx: start, isCurrent: at === current }
          return 'head' in item ? (
            <Head key={item.head} head={item} {...place} onFold={onFold} />
          ) : (
            <Piece key={item.id} item={item} {...place} />
          )
        })}
      </ul>
    </section>
  )
})

interface Placed {
  readonly at: number
  readonly of: number
  readonly startPx: number
  /** Reached by Tab; arrow keys move from there. */
  readonly isCurrent: boolean
}

function Head({
  head: { head, tools, isOpen },
  at,
  startPx,
  isCurrent,
  onFold,
}: Placed & { head: ServerHead; onFold: (server: string) => void }): JSX.Element {
  return (
    <li data-at={at} style={{ transform: `translateY(${startPx}px)` }}>
      <button
        type="button"
        className="line-button"
        tabIndex={isCurrent ? 0 : -1}
        aria-expanded={isOpen}
        onClick={() => onFold(head)}
      >
        <Icon name={isOpen ? 'down' : 'next'} size={10} />
        <span className="cut">{head}</span>
        <span className="num">{count(tools)}</span>
      </button>
    </li>
  )
}

const Piece = memo(function Piece({
  item,
  at,
  of,
  startPx,
  isCurrent,
}: Placed & { item: Item }): JSX.Element {
  return (
    <li
      className={item.condition === '' ? 'piece' : 'piece medium'}
      draggable
      data-id={item.id}
      data-at={at}
      aria-setsize={of}
      aria-posinset={at + 1}
      style={{ transform: `translateY(${startPx}px)` }}
      title={[item.name, item.condition, item.lock].filter(Boolean).join('\n')}
    >
      <button
        type="button"
        className="grip"
        aria-label={`Move ${item.name}`}
        tabIndex={isCurrent ? 0 : -1}
      >
        <Icon name={item.lock === '' ? 'grip' : 'lock'} />
      </button>
      <div className="grow">
        <bdi className="strong piece-name">
          {item.title.split(/(?<=[_./-])/).map((part, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the parts of one name never move
            <Fragment key={at}>
              <UntrustedText text={part} />
              <wbr />
            </Fragment>
          ))}
        </bdi>
        {item.condition !== '' ? (
          <UntrustedText text={describeCondition(item)} className="small piece-name tone" />
        ) : (
          <span className="row line">
            <span className="muted small cut">{item.detail}</span>
            {(item.risk === 'high' || item.risk === 'critical') && (
              <span className={`tag ${item.risk}`}>{item.risk}</span>
            )}
            {item.lock !== '' && <span className="tag medium">locked</span>}
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
        )}
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
      const at = Number((event.target as Element).closest<HTMLElement>('[data-at]')?.dataset.at)
      const page = Math.max(1, Math.floor((place?.clientHeight ?? 0) / PIECE_PX) - 1)
      const to = stepFrom(event.key, at, { page, last: length - 1 })
      if (to === undefined || Number.isNaN(at)) return
      event.preventDefault()
      follows.current = true
      setCurrent(to)
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
    const piece = place?.querySelector<HTMLElement>(`[data-at="${current}"]`)
    piece?.scrollIntoView({ block: 'nearest' })
    piece?.querySelector<HTMLElement>('button')?.focus({ preventScroll: true })
  }, [place, current])
  return Math.min(current, Math.max(0, length - 1))
}

function listCategories(board: NonNullable<PolicyDraft['board']>): Item[] {
  return board.categories.map(({ name, action, lock, tools }) => ({
    id: `category:${name}`,
    server: '',
    condition: '',
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
function listOwnServers(tools: readonly BoardTool[]): Set<string> {
  const own = tools.filter(({ name }) => name.startsWith('wasm_agent_'))
  return new Set(own.map(({ server }) => server))
}

/** Categories first, then the tools of each server under its head, if it is not folded. */
function groupByServer(items: readonly Item[], folded: ReadonlySet<string>): (Item | ServerHead)[] {
  const groups = new Map<string, Item[]>()
  for (const item of items) {
    const group = groups.get(item.server)
    if (group === undefined) groups.set(item.server, [item])
    else group.push(item)
  }
  return [...groups].flatMap(([server, list]) => {
    if (server === '') return list
    const isOpen = !folded.has(server)
    return [{ head: server, tools: list.length, isOpen }, ...(isOpen ? list : [])]
  })
}

/** `if amount <= 50, else ask`. */
function describeCondition({ condition }: Item): string {
  return `if ${condition.replaceAll('args.', '').replaceAll('require_approval', 'ask')}`
}

/** Guardrails that every tool is under: said once, above the board. */
function findCommon(tools: readonly BoardTool[]): readonly string[] {
  const [first, ...others] = tools
  return (first?.guardrails ?? []).filter((name) =>
    others.every(({ guardrails }) => guardrails.includes(name)),
  )
}

function toItem(tool: BoardTool, common: readonly string[]): Item {
  const { server, name, category, unknown, risk, lock, condition, guardrails, limits, column } =
    tool
  return {
    id: `${server}/${name}`,
    server,
    name: `${server}/${name}`,
    title: name,
    lock,
    condition,
    risk: unknown ? null : risk,
    detail: unknown ? `unknown, perhaps ${category}` : category,
    guardrails: guardrails.filter((one) => !common.includes(one)),
    limits,
    column,
    move: (to) => ({ tool: `${server}/${name}`, to }),
  }
}
