// Ledger: every recorded call, newest first; follow one session or agent from start to end, verify
// the chain, export. Filters are in the address.

import { type JSX, memo, useState } from 'react'
import type {
  CallRecord,
  VerificationView,
} from '../../../../packages/sluice/src/admin/contract/contract.ts'
import { titleOfCall } from '../../../../packages/sluice/src/core/call-title.ts'
import { formatQuery, post } from '../../api.ts'
import { setQuery, useRoute } from '../../route.ts'
import { Button } from '../../ui/button.tsx'
import { Chips, SelectField, TextField } from '../../ui/fields.tsx'
import { Icon } from '../../ui/icons.tsx'
import { type RowOf, VirtualList } from '../../ui/long-list.tsx'
import { OutcomeBadge } from '../../ui/marks.tsx'
import { Empty, ErrorNotice, Loading, Notice, PageHead } from '../../ui/page.tsx'
import { SaidLine, UntrustedText } from '../../ui/said.tsx'
import { complain } from '../../ui/toasts.tsx'
import { count, date, millis } from '../../ui/words.ts'
import { CallExplanationDrawer } from '../live/explained.tsx'
import { useCalls } from './calls.ts'
import { Events } from './events.tsx'
import { Export } from './export.tsx'
import './ledger.css'

const FILTERS = [
  ...(['principal', 'agent', 'session', 'server', 'name'] as const),
  ...(['action', 'code', 'sinceMs', 'untilMs'] as const),
] as const
/** Those with a text field. */
const WRITTEN = [
  { name: 'principal', label: 'Who', placeholder: 'Principal' },
  { name: 'server', label: 'Server', placeholder: 'Server' },
  { name: 'name', label: 'Tool', placeholder: 'Tool, exactly' },
  { name: 'session', label: 'Session', placeholder: 'Session' },
  { name: 'agent', label: 'Agent', placeholder: 'Agent' },
  { name: 'code', label: 'Code', placeholder: 'Code, such as DENIED' },
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
  const key = formatQuery(filter)
  const { state, fault, again, more } = useCalls(key)
  const [open, setOpen] = useState<CallRecord>()
  return (
    <div className="page-body ledger-body">
      <div className="row ledger-filters">
        {WRITTEN.map(({ name, label, placeholder }) => (
          <TextField
            key={name}
            quiet
            label={label}
            placeholder={placeholder}
            value={filter[name] ?? ''}
            onChange={(value) => setQuery({ [name]: value })}
          />
        ))}
        <SelectField
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
        <TimeRange since={filter.sinceMs ?? ''} until={filter.untilMs ?? ''} />
        {key !== '' && (
          <Button
            kind="quiet"
            onPress={() => setQuery(Object.fromEntries(FILTERS.map((name) => [name, ''])))}
          >
            <Icon name="close" /> Clear
          </Button>
        )}
        <span className="spacer" />
        <div className="row ledger-export">
          <Export filters={key} />
        </div>
      </div>
      <section
        className="card ledger-rows"
        aria-label="Calls on record"
        aria-busy={state === undefined}
      >
        <div className="ledger-head" aria-hidden="true">
          <span>Record</span>
          <span>When</span>
          <span>Decision</span>
          <span>Tool</span>
          <span>Who</span>
          <span>Reason</span>
          <span>Outcome</span>
        </div>
        {fault !== undefined && <ErrorNotice error={fault} again={again} />}
        {state === undefined && fault === undefined && <Loading />}
        {state !== undefined && state.behind > 0 && (
          <div className="ledger-behind" role="status">
            <Notice>
              The newest {count(state.behind)} records are being indexed and not searched yet; the
              page looks again by itself.
            </Notice>
          </div>
        )}
        {state?.indexRebuilt !== undefined && (
          <div className="ledger-behind" role="status">
            <Notice>
              The index of this ledger did not agree with its records and was built again:{' '}
              {state.indexRebuilt}.
            </Notice>
          </div>
        )}
        {state?.calls.length === 0 && state.behind === 0 && (
          <Empty icon="ledger" title={key === '' ? 'No calls yet' : 'No matching calls'}>
            {key === ''
              ? 'Every call is recorded here before it is made.'
              : 'Names match exactly. Remove a filter to see more.'}
          </Empty>
        )}
        <VirtualList
          items={state?.calls ?? NONE}
          px={34}
          keyOf={getSeq}
          Row={CallRow}
          onOpen={setOpen}
          className="ledger-scroll"
          onNearEnd={more}
        />
      </section>
      {open !== undefined && <CallExplanationDrawer at={open} onClose={() => setOpen(undefined)} />}
    </div>
  )
}

const RANGES = [
  { value: '', says: 'Any time' },
  { value: '3600000', says: 'Last hour' },
  { value: '86400000', says: 'Last 24 hours' },
  { value: '604800000', says: 'Last 7 days' },
  { value: '2592000000', says: 'Last 30 days' },
]

/** A period up to now is turned into its start, which is in the address; or from one time to another. */
function TimeRange({ since, until }: { since: string; until: string }): JSX.Element {
  const isSet = since !== '' || until !== ''
  return (
    <>
      <SelectField
        label="Time"
        value={isSet ? 'set' : ''}
        onChange={(ms) =>
          setQuery({ sinceMs: ms === '' ? '' : String(Date.now() - Number(ms)), untilMs: '' })
        }
        choices={isSet ? [{ value: 'set', says: 'Time range' }, ...RANGES] : RANGES}
      />
      {isSet && (
        <>
          <Moment label="From" value={since} onChange={(sinceMs) => setQuery({ sinceMs })} />
          <Moment label="To" value={until} onChange={(untilMs) => setQuery({ untilMs })} />
        </>
      )}
    </>
  )
}

function Moment({
  label,
  value,
  onChange,
}: {
  label: string
  value: string
  onChange: (ms: string) => void
}): JSX.Element {
  const local = value === '' ? '' : toLocalTime(Number(value))
  return (
    <TextField
      quiet
      label={label}
      type="datetime-local"
      value={local}
      onChange={(text) => onChange(text === '' ? '' : String(Date.parse(text)))}
    />
  )
}

/** As the field wants it: the local time without its zone. */
function toLocalTime(ms: number): string {
  const at = new Date(ms - new Date(ms).getTimezoneOffset() * 60_000)
  return at.toISOString().slice(0, 19)
}

const NONE: readonly CallRecord[] = []
const getSeq = ({ seq }: CallRecord): number => seq

const CallRow = memo(function CallRow({ item: call, onOpen }: RowOf<CallRecord>): JSX.Element {
  return (
    <button type="button" className="ledger-row" title={call.reason} onClick={() => onOpen(call)}>
      <span className="num muted">{call.seq}</span>
      <span className="num muted">{date(call.atMs)}</span>
      <span>
        <OutcomeBadge word={call.word} />
      </span>
      <SaidLine text={titleOfCall(call)} className="strong" />
      <SaidLine
        text={call.agent === null ? nameCaller(call) : `${call.principal} · agent`}
        className="muted"
      />
      <SaidLine text={nameReason(call)} className="muted" />
      <span className="num muted">
        {call.status === null ? '' : `${call.status} ${millis(call.durationMs ?? 0)}`}
      </span>
    </button>
  )
})

/** With the client of the session, as it calls itself. */
function nameCaller({ principal, sessionName }: CallRecord): string {
  return sessionName === undefined ? principal : `${principal} · ${sessionName}`
}

function nameReason({ word, reason, shadowText = '' }: CallRecord): string {
  const said = word === 'allow' ? '' : reason
  return [said, shadowText && `shadow: ${shadowText}`].filter((part) => part !== '').join(' · ')
}

function Verify(): JSX.Element {
  const [result, setResult] = useState<VerificationView | 'busy'>()
  const verify = () => {
    setResult('busy')
    post<VerificationView>('/ledger/verify').then(setResult, (error) => {
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
              <UntrustedText text={result.says} />
            )}
          </Notice>
        </div>
      )}
    </>
  )
}
