// Ledger: every call on record, the newest first; follow one session or agent from start to end,
// verify the chain, take an export. Filters stand in the address.

import { useVirtualizer } from '@tanstack/react-virtual'
import { type JSX, useCallback, useEffect, useState } from 'react'
import type {
  CallRecord,
  LedgerEvents,
  LedgerPage,
  LedgerVerified,
} from '../../../../src/admin/contract.ts'
import { get, post, queryOf } from '../../api.ts'
import { useResource } from '../../resource.ts'
import { setQuery, useRoute } from '../../route.ts'
import { Button } from '../../ui/button.tsx'
import { Chips, Pick, TextField } from '../../ui/fields.tsx'
import { Icon } from '../../ui/icons.tsx'
import { Mark } from '../../ui/marks.tsx'
import { Empty, Loading, Notice, PageHead } from '../../ui/page.tsx'
import { Said, SaidLine } from '../../ui/said.tsx'
import { complain } from '../../ui/toasts.tsx'
import { count, date, millis } from '../../ui/words.ts'
import { type CallAddress, Explained } from '../live/explained.tsx'
import { Export } from './export.tsx'
import './ledger.css'

const PAGE = 200
const FILTERS = ['principal', 'session', 'server', 'name', 'action'] as const
/** Those that are typed. */
const WRITTEN = [
  { name: 'principal', label: 'Who', placeholder: 'Principal' },
  { name: 'server', label: 'Server', placeholder: 'Server' },
  { name: 'name', label: 'Tool', placeholder: 'Tool, exactly' },
  { name: 'session', label: 'Session', placeholder: 'Session' },
] as const

export function Ledger(): JSX.Element {
  const { query } = useRoute()
  const shows = query.get('shows') ?? 'calls'
  return (
    <div className="page">
      <PageHead
        title="Ledger"
        lead="Every call and every decision, hash-chained. Arguments are not kept."
      >
        <Chips
          label="What is shown"
          value={shows}
          onChange={(value) => setQuery({ shows: value === 'calls' ? '' : value })}
          choices={[
            { value: 'calls', says: 'Calls' },
            { value: 'events', says: 'Events' },
          ]}
        />
        <Verify />
      </PageHead>
      {shows === 'events' ? <Events /> : <Calls />}
    </div>
  )
}

function Calls(): JSX.Element {
  const { query } = useRoute()
  const filter = Object.fromEntries(FILTERS.map((name) => [name, query.get(name) ?? '']))
  const key = queryOf(filter)
  const [state, setState] = useState<{ key: string; calls: CallRecord[]; next: number | null }>()
  const [open, setOpen] = useState<CallAddress>()
  const more = useCallback(
    (from: string, before?: number) =>
      getPage(from, PAGE, before).then(
        ({ calls, next }) =>
          setState((had) =>
            before === undefined || had?.key !== from
              ? { key: from, calls: [...calls], next }
              : { key: from, calls: [...had.calls, ...calls], next },
          ),
        complain,
      ),
    [],
  )
  useEffect(() => void more(key), [key, more])
  const calls = state?.key === key ? state.calls : []
  const [place, setPlace] = useState<HTMLDivElement | null>(null)
  const virtual = useVirtualizer({
    count: calls.length,
    getScrollElement: () => place,
    estimateSize: () => 34,
    overscan: 12,
  })
  const items = virtual.getVirtualItems()
  const last = items.at(-1)?.index ?? 0
  useEffect(() => {
    if (state?.key === key && state.next !== null && last > state.calls.length - 30)
      void more(key, state.next)
  }, [last, state, key, more])
  return (
    <div className="page-body ledger-body">
      <div className="row ledger-filters">
        {WRITTEN.map(({ name, label, placeholder }) => (
          <TextField
            key={name}
            quiet
            {...{ label, placeholder }}
            value={filter[name] ?? ''}
            onChange={(value) => setQuery({ [name]: value })}
          />
        ))}
        <Pick
          label="Decision"
          value={filter.action ?? ''}
          onChange={(action) => setQuery({ action })}
          choices={[
            { value: '', says: 'All decisions' },
            { value: 'allow', says: 'Allowed' },
            { value: 'deny', says: 'Denied' },
            { value: 'hide', says: 'Hidden' },
            { value: 'require_approval', says: 'Held' },
          ]}
        />
        {key !== '' && (
          <Button
            kind="quiet"
            onPress={() => setQuery(Object.fromEntries(FILTERS.map((name) => [name, ''])))}
          >
            <Icon name="close" /> Clear
          </Button>
        )}
        <span className="spacer" />
        <Export filters={key} />
      </div>
      <section className="card ledger-rows" aria-label="Calls on record">
        <div className="ledger-head" aria-hidden="true">
          <span>Record</span>
          <span>When</span>
          <span>Decision</span>
          <span>Tool</span>
          <span>Who</span>
          <span>Reason</span>
          <span>Outcome</span>
        </div>
        {state === undefined && <Loading />}
        {state !== undefined && calls.length === 0 && (
          <Empty icon="ledger" title="Nothing on record fits">
            {key === '' ? 'Calls are recorded before they are made.' : 'Take a filter away.'}
          </Empty>
        )}
        <div ref={setPlace} className="ledger-scroll">
          <ul style={{ height: virtual.getTotalSize(), position: 'relative' }}>
            {items.map(({ index, key: at, start }) => {
              const call = calls[index] as CallRecord
              return (
                <li
                  key={at}
                  className="ledger-item"
                  style={{ transform: `translateY(${start}px)` }}
                >
                  <button
                    type="button"
                    className="ledger-row"
                    title={call.reason}
                    onClick={() => setOpen(call)}
                  >
                    <span className="num muted">{call.seq}</span>
                    <span className="num muted">{date(call.atMs)}</span>
                    <span>
                      <Mark word={call.word} />
                    </span>
                    <SaidLine
                      text={`${call.server}/${call.name === '' ? call.method : call.name}`}
                      className="strong"
                    />
                    <SaidLine
                      text={call.agent === null ? call.principal : `${call.principal} · agent`}
                      className="muted"
                    />
                    <SaidLine text={call.word === 'allow' ? '' : call.reason} className="muted" />
                    <span className="num muted">
                      {call.status === null ? '' : `${call.status} ${millis(call.durationMs ?? 0)}`}
                    </span>
                  </button>
                </li>
              )
            })}
          </ul>
        </div>
      </section>
      {open !== undefined && <Explained at={open} onClose={() => setOpen(undefined)} />}
    </div>
  )
}

/** The calls that a filter leaves, from before a record on. */
function getPage(key: string, limit: number, before?: number): Promise<LedgerPage> {
  const from = before === undefined ? '' : `&before=${before}`
  return get<LedgerPage>(`/ledger${key}${key === '' ? '?' : '&'}limit=${limit}${from}`)
}

function Events(): JSX.Element {
  const { value } = useResource<LedgerEvents>('/ledger/events', 5_000)
  return (
    <div className="page-body">
      {value === undefined && <Loading />}
      <ol className="card event-list">
        {(value?.events ?? []).map((event) => (
          <li key={event.seq} className="event">
            <span className="num muted">{event.seq}</span>
            <span className="num muted">{date(event.atMs)}</span>
            <span className="tag">{event.name}</span>
            <Said text={event.detail.slice(0, 600)} className="mono small muted" />
          </li>
        ))}
      </ol>
    </div>
  )
}

function Verify(): JSX.Element {
  const [result, setResult] = useState<LedgerVerified | 'busy'>()
  const verify = () => {
    setResult('busy')
    post<LedgerVerified>('/ledger/verify').then(setResult, (error) => {
      setResult(undefined)
      complain(error)
    })
  }
  return (
    <>
      <Button onPress={verify} isDisabled={result === 'busy'}>
        <Icon name="policy" /> {result === 'busy' ? 'Verifying…' : 'Verify'}
      </Button>
      {result !== undefined && result !== 'busy' && (
        <div role="status">
          <Notice kind={result.ok ? 'good' : 'bad'}>
            {result.ok ? (
              `${count(result.records)} records are as they were written (${millis(result.durationMs)})`
            ) : (
              <Said text={result.says} />
            )}
          </Notice>
        </div>
      )}
    </>
  )
}
