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
import { OutcomeBadge, type OutcomeLabel, WORDS } from '../../ui/marks.tsx'
import { useNow } from '../../ui/now.ts'
import { Empty, PageHead } from '../../ui/page.tsx'
import { SaidLine } from '../../ui/said.tsx'
import { clock, count, millis, short } from '../../ui/words.ts'
import { CallExplanationDrawer } from './explained.tsx'
import {
  computeFigures,
  computePercentiles,
  fits,
  type LiveState,
  LiveStore,
  WINDOW_S,
} from './live-store.ts'
import { Plot } from './plot.tsx'
import './live.css'

const SHARES = [0.5, 0.95, 0.99] as const
const CHOICES = [
  { value: 'all', says: 'All' },
  { value: 'allow', says: 'Allowed' },
  { value: 'ask', says: 'Held' },
  { value: 'deny', says: 'Denied' },
  { value: 'limited', says: 'Limited' },
  { value: 'hide', says: 'Hidden' },
]

export function Live(): JSX.Element {
  const [store] = useState(() => new LiveStore())
  useEffect(() => store.open(), [store])
  const live = useSyncExternalStore(store.subscribe, store.now)
  const [frozen, setFrozen] = useState<LiveState>()
  const state = frozen ?? live
  const { query } = useRoute()
  const filter = useMemo(
    () => ({
      word: query.get('word') ?? '',
      server: query.get('server') ?? '',
      q: query.get('q') ?? '',
    }),
    [query],
  )
  const [open, setOpen] = useState<LiveRow>()
  const nowS = Math.floor(useNow() / 1_000)
  const figures = useMemo(
    () => ({ of: state.version, ...computeFigures(state, nowS, filter.server) }),
    [state, nowS, filter.server],
  )
  const lists = useMemo(() => computePercentiles(state, nowS, SHARES), [state, nowS])
  const byWord = useMemo(
    () =>
      WORDS.map((word) => ({
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
        colour: (['--allow-line', '--accent', '--limited-line'] as const)[at] ?? '--accent',
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
          {live.state === 'open'
            ? 'connected'
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
          className="search"
          placeholder="Tool, principal, agent, reason"
          value={filter.q}
          onChange={(q) => setQuery({ q })}
        />
        <Button
          icon
          aria-label={frozen === undefined ? 'Pause' : 'Go on'}
          onPress={() => setFrozen(frozen === undefined ? live : undefined)}
        >
          <Icon name={frozen === undefined ? 'pause' : 'play'} />
        </Button>
      </PageHead>
      <div className="page-body live-body">
        <div className="live-plots">
          <section className="card" aria-label="Calls a second">
            <Legend words={figures.words} />
            <Plot
              label="Calls a second by decision"
              stacked
              times={figures.times}
              lines={byWord}
              unit={short}
            />
          </section>
          <section className="card" aria-label="How long calls took">
            <div className="plot-head">
              <h2 className="small-head">Time a call</h2>
              {SHARES.map((share, at) => (
                <span key={share} className="row small">
                  <span className={`swatch p${share * 100}`} aria-hidden="true" />p{share * 100}{' '}
                  <b className="num">{timeOr(lists[at]?.findLast((value) => value !== null))}</b>
                </span>
              ))}
            </div>
            <Plot
              label="Percentiles of the time a call takes"
              times={figures.times}
              lines={byShare}
              unit={millis}
            />
          </section>
          <Tops title="Most called" list={figures.called} word="allow" />
          <Tops title="Most refused" list={figures.refused} word="deny" />
        </div>
        <Rows rows={rows} onOpen={setOpen} left={state.left} />
      </div>
      {open !== undefined && <CallExplanationDrawer at={open} onClose={() => setOpen(undefined)} />}
    </div>
  )
}

/** A dash until the first call has ended. */
function timeOr(ms: number | null | undefined): string {
  return ms === null || ms === undefined ? '–' : millis(ms)
}

function Legend({
  words,
}: {
  words: Readonly<Record<OutcomeLabel, readonly number[]>>
}): JSX.Element {
  const total = (list: readonly number[]) => Math.round(list.reduce((sum, n) => sum + n, 0))
  return (
    <div className="plot-head">
      <h2 className="small-head">Calls a second</h2>
      {WORDS.map((word) => (
        <span key={word} className="row small">
          <OutcomeBadge word={word} bare says={word} />{' '}
          <b className="num">{count(total(words[word]))}</b>
        </span>
      ))}
      <span className="muted small">in {WINDOW_S / 60} min</span>
    </div>
  )
}

function Tops({
  title,
  list,
  word,
}: {
  title: string
  list: readonly [string, number][]
  word: OutcomeLabel
}): JSX.Element {
  const most = list[0]?.[1] ?? 1
  return (
    <section className="card tops" aria-label={title}>
      <h2 className="small-head">{title}</h2>
      {list.length === 0 && (
        <p className="muted small">
          nothing in the last {WINDOW_S / 60} min since this page was opened
        </p>
      )}
      <ol>
        {list.slice(0, 6).map(([name, n]) => (
          <li key={name} className="top">
            <span
              className={`bar ${word}`}
              style={{ width: `${(n / most) * 100}%` }}
              aria-hidden="true"
            />
            <SaidLine text={name} className="top-name" />
            <b className="num small">{count(n)}</b>
          </li>
        ))}
      </ol>
    </section>
  )
}

const getCallId = ({ callId }: LiveRow): string => callId

const Row = memo(function Row({ item: row, onOpen }: RowOf<LiveRow>): JSX.Element {
  return (
    <button type="button" className="live-row" title={row.reason} onClick={() => onOpen(row)}>
      <span className="num muted">{clock(row.atMs)}</span>
      <span>
        <OutcomeBadge word={row.word} />
      </span>
      <SaidLine text={titleOfCall(row)} className="strong" />
      <SaidLine
        text={row.agent === null ? row.principal : `${row.principal} · agent`}
        className="muted"
      />
      <SaidLine text={row.word === 'allow' ? '' : row.reason} className="muted" />
      <span className="num muted">{formatDuration(row)}</span>
    </button>
  )
})

/** The newest first. */
function Rows({
  rows,
  onOpen,
  left,
}: {
  rows: readonly LiveRow[]
  onOpen: (row: LiveRow) => void
  left: number
}): JSX.Element {
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
    <section className="card live-rows" aria-label="Calls">
      <div className="live-head" aria-hidden="true">
        <span>Time</span>
        <span>Decision</span>
        <span>Tool</span>
        <span>Who</span>
        <span>Reason</span>
        <span>Took</span>
      </div>
      <VirtualList
        items={rows}
        px={32}
        keyOf={getCallId}
        Row={Row}
        onOpen={onOpen}
        className="live-scroll"
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
