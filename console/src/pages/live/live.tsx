// Live: calls as they happen, coloured by outcome; how many, how fast, which tools, what is
// refused. Filters are in the address; a click shows the whole explanation.

import { type JSX, memo, useEffect, useMemo, useState, useSyncExternalStore } from 'react'
import type { LiveRow } from '../../../../packages/sluice/src/admin/contract/contract.ts'
import { titleOfCall } from '../../../../packages/sluice/src/core/call-title.ts'
import { setQuery, useRoute } from '../../route.ts'
import { Button } from '../../ui/button.tsx'
import { Chips, SelectField, TextField } from '../../ui/fields.tsx'
import { Icon } from '../../ui/icons.tsx'
import { type RowOf, VirtualList } from '../../ui/long-list.tsx'
import {
  OUTCOME_CHOICES,
  OUTCOME_LABELS,
  OutcomeBadge,
  type OutcomeLabel,
} from '../../ui/marks.tsx'
import { useNow } from '../../ui/now.ts'
import { Empty, Loading, PageHead } from '../../ui/page.tsx'
import { Plot } from '../../ui/plot.tsx'
import { TextLine } from '../../ui/text.tsx'
import { TopList } from '../../ui/top-list.tsx'
import { clock, count, millis, short } from '../../ui/words.ts'
import { CallExplanationDrawer, useOpenCall } from './explained.tsx'
import {
  computeFigures,
  computePercentiles,
  fits,
  type LiveState,
  LiveStore,
  WINDOW_S,
} from './live-store.ts'
import './live.css'

const SHARES = [0.5, 0.95, 0.99] as const
const CHOICES = [{ value: 'all', says: 'All' }, ...OUTCOME_CHOICES]

export function Live(): JSX.Element {
  const [store] = useState(() => new LiveStore())
  useEffect(() => store.open(), [store])
  const live = useSyncExternalStore(store.subscribe, store.now)
  const [paused, setPaused] = useState<{ readonly state: LiveState; readonly atS: number }>()
  const state = paused?.state ?? live
  const { query } = useRoute()
  const filter = useMemo(
    () => ({
      word: query.get('word') ?? '',
      server: query.get('server') ?? '',
      q: query.get('q') ?? '',
    }),
    [query],
  )
  const { call, open } = useOpenCall()
  const clockS = Math.floor(useNow() / 1_000)
  const nowS = paused?.atS ?? clockS
  const figures = useMemo(
    () => ({ of: state.version, ...computeFigures(state, nowS, filter.server) }),
    [state, nowS, filter.server],
  )
  const lists = useMemo(() => computePercentiles(state, nowS, SHARES), [state, nowS])
  const byWord = useMemo(
    () =>
      OUTCOME_LABELS.map((word) => ({
        says: word,
        colour: `--${word}-line`,
        values: figures.words[word],
      })),
    [figures],
  )
  const byShare = useMemo(
    () =>
      SHARES.map((share, at) => ({
        says: `p${share * 100}`,
        values: lists[at] ?? [],
        colour: (['--accent', '--text', '--muted'] as const)[at] ?? '--accent',
        isDashed: share === 0.99,
      })),
    [lists],
  )
  const servers = useMemo(
    () => [...new Set(state.rows.map(({ server }) => server))].sort(),
    [state.rows],
  )
  const rows = useMemo(
    () => state.rows.filter((row) => fits(filter, row)).reverse(),
    [state.rows, filter],
  )
  return (
    <div className="page">
      <PageHead title="Live">
        <span className="row small muted" role="status">
          <span className={`dot ${live.state === 'open' ? 'up' : 'failing'}`} />
          {paused !== undefined
            ? `paused at ${clock(paused.atS * 1_000)}`
            : live.state === 'open'
              ? `connected${state.gate === undefined ? '' : `, calls of the gate ${state.gate}`}`
              : live.state === 'lost'
                ? `connection lost${live.why === '' ? '' : `: ${live.why}`}`
                : 'connecting'}
        </span>
        <Chips
          label="Which calls"
          value={filter.word === '' ? 'all' : filter.word}
          onChange={(word) => setQuery({ word: word === 'all' ? '' : word })}
          choices={CHOICES}
        />
        <SelectField
          label="Server"
          value={filter.server}
          onChange={(server) => setQuery({ server })}
          choices={[
            { value: '', says: 'All servers' },
            ...servers.map((name) => ({ value: name, says: name })),
          ]}
        />
        <TextField
          label="Search calls"
          quiet
          className="search live-search"
          placeholder="Tool, principal, agent, reason"
          value={filter.q}
          onChange={(q) => setQuery({ q })}
        />
        <Button
          icon
          aria-label={paused === undefined ? 'Pause' : 'Resume'}
          onPress={() =>
            setPaused(paused === undefined ? { state: store.pause(), atS: clockS } : undefined)
          }
        >
          <Icon name={paused === undefined ? 'pause' : 'play'} />
        </Button>
      </PageHead>
      <div className="page-body live-body">
        <div className="live-plots">
          <section className="card" aria-label="Calls per second">
            <Legend
              words={figures.words}
              sinceS={Math.max(state.sinceS, nowS - WINDOW_S)}
              nowS={nowS}
            />
            <Plot
              label="Calls per second by decision"
              stacked
              times={figures.times}
              lines={byWord}
              unit={short}
            />
          </section>
          <section className="card" aria-label="Latency">
            <div className="plot-head">
              <h2 className="small-head">Latency</h2>
              {SHARES.map((share, at) => (
                <span key={share} className="row small">
                  <span className={`swatch p${share * 100}`} aria-hidden="true" />p{share * 100}{' '}
                  <b className="num">{timeOr(lists[at]?.findLast((value) => value !== null))}</b>
                </span>
              ))}
            </div>
            <Plot
              label="Percentiles of the latency of calls, without waiting for a person"
              times={figures.times}
              lines={byShare}
              isLog
              unit={millis}
            />
          </section>
          <TopList title="Most called" none={NONE_CALLED} list={figures.called} to={toCalls} />
          <TopList title="Most refused" none={NONE_CALLED} list={figures.refused} to={toCalls} />
        </div>
        <Rows
          rows={rows}
          isFiltered={state.rows.length > 0}
          isCounted={state.tools.size > 0}
          onOpen={open}
          left={state.left}
        />
      </div>
      {call !== undefined && <CallExplanationDrawer at={call} onClose={() => open(undefined)} />}
    </div>
  )
}

/** A dash until the first call has ended. */
function timeOr(ms: number | null | undefined): string {
  return ms === null || ms === undefined ? '–' : millis(ms)
}

function Legend({
  words,
  sinceS,
  nowS,
}: {
  words: Readonly<Record<OutcomeLabel, readonly (number | null)[]>>
  sinceS: number
  nowS: number
}): JSX.Element {
  const total = (list: readonly (number | null)[]) =>
    list.reduce<number>((sum, n) => sum + (n ?? 0), 0)
  return (
    <div className="plot-head">
      <h2 className="small-head">Calls</h2>
      {OUTCOME_LABELS.map((word) => (
        <span key={word} className="row small">
          <OutcomeBadge word={word} bare says={word} />{' '}
          <b className="num">{count(total(words[word]))}</b>
        </span>
      ))}
      <span className="muted small">
        {nowS - sinceS >= WINDOW_S || !Number.isFinite(sinceS)
          ? `in ${WINDOW_S / 60} min`
          : `since ${clock(sinceS * 1_000)}`}
      </span>
    </div>
  )
}

const NONE_CALLED = `None in the last ${WINDOW_S / 60} min.`

function toCalls(name: string): string {
  const query = new URLSearchParams(location.search)
  query.set('q', name)
  return `${location.pathname}?${query}`
}

/** A row may move on between press and release: the click is then the list's, and meant this row. */
let pressed: LiveRow | undefined

const getCallId = ({ callId }: LiveRow): string => callId

const Row = memo(function Row({ item: row, onOpen }: RowOf<LiveRow>): JSX.Element {
  return (
    <button
      type="button"
      className="live-row"
      title={row.reason}
      onPointerDown={() => {
        pressed = row
      }}
      onClick={() => onOpen(row)}
    >
      <span className="num muted">{clock(row.atMs)}</span>
      <span>
        <OutcomeBadge word={row.word} />
      </span>
      <TextLine text={titleOfCall(row)} className="strong" />
      <TextLine
        text={row.agent === null ? row.principal : `${row.principal} via agent`}
        className="muted"
      />
      <TextLine text={row.word === 'allow' ? '' : row.reason} className="muted" />
      <span className="num muted">{formatDuration(row)}</span>
    </button>
  )
})

/** The newest first. */
function Rows({
  rows,
  isFiltered,
  isCounted,
  onOpen,
  left,
}: {
  rows: readonly LiveRow[]
  /** There are others that the filters leave out. */
  isFiltered: boolean
  /** There were calls, and their rows are still to come. */
  isCounted: boolean
  onOpen: (row: LiveRow) => void
  left: number
}): JSX.Element {
  const [place, setPlace] = useState<HTMLElement | null>(null)
  useEffect(() => {
    const open = ({ target }: MouseEvent) => {
      const isRow = target instanceof Element && target.closest('.live-row') !== null
      if (!isRow && pressed !== undefined) onOpen(pressed)
      pressed = undefined
    }
    place?.addEventListener('click', open)
    return () => place?.removeEventListener('click', open)
  }, [place, onOpen])
  if (rows.length === 0 && isFiltered)
    return (
      <section className="card live-rows" aria-label="Calls">
        <Empty icon="live" title="No matching calls">
          None of the latest calls match the filters.{' '}
          <Button onPress={() => setQuery({ q: '', word: '', server: '' })}>Clear filters</Button>
        </Empty>
      </section>
    )
  if (rows.length === 0 && isCounted)
    return (
      <section className="card live-rows" aria-label="Calls">
        <Loading />
      </section>
    )
  if (rows.length === 0)
    return (
      <section className="card live-rows" aria-label="Calls">
        <Empty icon="live" title="No calls yet">
          Point an MCP client at <code>{location.origin}/mcp</code>, or run{' '}
          <code>npx sluice init</code>, which moves the clients of this machine behind the gate.
          Every call appears here as it passes.
        </Empty>
      </section>
    )
  return (
    <section ref={setPlace} className="card live-rows" aria-label="Calls">
      <VirtualList
        items={rows}
        px={32}
        keyOf={getCallId}
        Row={Row}
        onOpen={onOpen}
        className="live-scroll"
        head={
          <div className="live-head" aria-hidden="true">
            <span>Time</span>
            <span>Decision</span>
            <span>Tool</span>
            <span>Who</span>
            <span>Reason</span>
            <span>Latency</span>
          </div>
        }
      />
      {left > 0 && (
        <p className="live-left muted small">
          {count(left)} calls were counted but have no row: 50 a second are shown, refusals first.
        </p>
      )}
    </section>
  )
}

function formatDuration({ word, status, durationMs }: LiveRow): string {
  if (durationMs !== null)
    return status === 'answered' ? millis(durationMs) : `${status} ${millis(durationMs)}`
  return word === 'allow' ? '…' : ''
}
