// Ledger: every recorded call, newest first or as a timeline from start to end; its histogram, its
// filters, new calls as they come, verify, export. Filters, view and the open call are in the address.

import { type JSX, type ReactNode, useMemo, useState } from 'react'
import type {
  CallHistogram,
  CallRecord,
  LedgerNames,
  RecordedSum,
  VerificationView,
} from '../../../../src/contract/contract.ts'
import { formatQuery, post } from '../../api.ts'
import { FreezeButton } from '../../freeze.tsx'
import { useResource } from '../../resource.ts'
import { setQuery, useRoute } from '../../route.ts'
import { Button, Link } from '../../ui/button.tsx'
import { DialogButton } from '../../ui/dialog.tsx'
import { Chips } from '../../ui/fields.tsx'
import { Icon } from '../../ui/icons.tsx'
import { useMedia } from '../../ui/media.ts'
import { MenuButton, type MenuEntry } from '../../ui/menu.tsx'
import { Empty, ErrorNotice, Loading, NotFollowed, Notice, PageHead } from '../../ui/page.tsx'
import { DataTable } from '../../ui/panel.tsx'
import { Table } from '../../ui/table.tsx'
import { UntrustedText } from '../../ui/text.tsx'
import { complain } from '../../ui/toasts.tsx'
import { amount, clock, count, date, duration, millis, moment, plural } from '../../ui/words.ts'
import { type FilteredCalls, foldPrograms, useCalls } from './calls.ts'
import { APPROVED_BY, listColumns, timelineColumns } from './columns.tsx'
import { Events } from './events.tsx'
import { useOpenCall } from './explained.tsx'
import { useExport } from './export.tsx'
import { type CallFilter, Filters, useFilter } from './filters.tsx'
import { Histogram } from './histogram.tsx'
import './ledger.css'

export function Ledger(): JSX.Element {
  const { query } = useRoute()
  const shows = query.get('shows') ?? 'calls'
  return (
    <div className="page">
      <PageHead
        title="Ledger"
        lead="Every call and every decision, hash-chained. Arguments are not stored, except what your rules read: texts only with ledger: { record: judged }."
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
  const { filter, key } = useFilter()
  const isTimeline = query.get('view') === 'timeline'
  const sort = isTimeline ? '' : (query.get('sort') ?? '')
  const isSmallest = query.get('order') === 'smallest'
  const isFollowing = query.get('follow') === '1' && !isTimeline && sort === ''
  const order =
    sort !== '' ? (isSmallest ? 'smallest' : 'largest') : isTimeline ? 'oldest' : 'newest'
  const sorted = sort === '' ? key : `${key === '' ? '?' : `${key}&`}${toParameter('sort', sort)}`
  const found = useCalls(sorted, order, isFollowing)
  const { state, news, again, more } = found
  const { call, open, drawer } = useOpenCall()
  const isPhone = useMedia('phone')
  const histogram = useResource<CallHistogram>(
    `/ledger/histogram${key}`,
    isFollowing ? FOLLOW_MS : undefined,
  )
  const values = useValues(filter, sort)
  const ofGates = state?.calls[0]?.origin !== undefined
  const calls = state?.calls ?? NONE
  const numbers = useMemo(() => values.filter((path) => isNumeric(calls, path)), [values, calls])
  const span = histogram.value
  const columns = useMemo(
    () =>
      isTimeline
        ? timelineColumns(span ?? NO_SPAN)
        : listColumns(values, { sort, isSmallest, ofGates, numbers }),
    [isTimeline, span, values, sort, isSmallest, ofGates, numbers],
  )
  const unfolded = query.get('run')
  const rows = useMemo(
    () => (isTimeline ? calls : foldPrograms(calls, unfolded)),
    [isTimeline, calls, unfolded],
  )
  const refresh = () => {
    again()
    histogram.reload()
  }
  return (
    <div className="scroll page-body stack ledger-body">
      <FilterBar filter={filter} query={key} values={values}>
        <Views isTimeline={isTimeline} isFollowing={isFollowing} />
        <span role="status">
          {news > 0 && (
            <Button kind="primary" onPress={refresh}>
              {news === 1 ? '1 new call' : `${news < 200 ? news : '200 or more'} new calls`}
            </Button>
          )}
        </span>
      </FilterBar>
      {span !== undefined && span.intervals.length > 0 && <Histogram data={span} />}
      <Sums filter={key} values={values} />
      {isTimeline && span !== undefined && (
        <TimelineHead span={span} first={state?.calls[0]} filter={filter} />
      )}
      <section className="card ledger-rows" aria-label="Calls on record">
        <Progress found={found} isFiltered={key !== ''} isTimeline={isTimeline} />
        <Table
          key={isTimeline ? 'timeline' : 'list'}
          label="Calls"
          columns={columns}
          items={rows}
          px={isPhone ? 54 : 34}
          keyOf={getKey}
          onOpen={open}
          openKey={call?.seq === undefined ? undefined : String(call.seq)}
          className={isTimeline ? 'calls timeline' : 'calls'}
          onNearEnd={more}
        />
      </section>
      {drawer}
    </div>
  )
}

interface FilterBarProps {
  readonly filter: CallFilter
  readonly query: string
  readonly values: readonly string[]
  /** How the calls are shown. */
  readonly children: ReactNode
}

/** One row; at phone width the filters are in a sheet. */
function FilterBar({ filter, query, values, children }: FilterBarProps): JSX.Element {
  const exporting = useExport(query)
  const columns = useValueColumns(values)
  const set = Object.values(filter).filter((value) => value !== '').length
  return (
    <div className="row ledger-filters">
      {useMedia('phone') ? (
        <DialogButton says={set === 0 ? 'Filters' : `Filters (${set})`} icon="filter">
          <Filters filter={filter} />
        </DialogButton>
      ) : (
        <Filters filter={filter} />
      )}
      {children}
      <MenuButton
        label="Columns, export"
        icon="more"
        sections={{ Columns: columns, 'Export as': exporting.entries }}
      />
      {exporting.progress}
    </div>
  )
}

function isNumeric(calls: readonly CallRecord[], path: string): boolean {
  const known = calls.find(({ values }) => values[path] !== undefined)
  return typeof known?.values[path] === 'number'
}

/** Paths of recorded values that have a column: those that are asked about, and those that were chosen. */
function useValues({ where }: CallFilter, sort: string): readonly string[] {
  const chosen = useRoute().query.get('columns') ?? ''
  return useMemo(() => {
    const asked = where.split(';').map((one) => /^\s*(args\.[^\s<>=]+)/.exec(one)?.[1] ?? '')
    const approvers = /(^|;\s*)approver:/.test(where) ? [APPROVED_BY] : []
    return [...new Set([...asked, sort, ...chosen.split(' '), ...approvers].filter(Boolean))]
  }, [where, sort, chosen])
}

/** Adds a column for a value that is on record, or removes it. */
function useValueColumns(shown: readonly string[]): MenuEntry[] {
  const { value } = useResource<LedgerNames>('/ledger/names?of=value')
  const choose = (path: string) => {
    const others = shown.filter((one) => one !== path)
    setQuery({ columns: (others.length < shown.length ? others : [...shown, path]).join(' ') })
  }
  return [APPROVED_BY, ...(value?.names ?? [])].map((name) => ({
    says: name === APPROVED_BY ? 'decided by' : name.replace(/^args\./, ''),
    isOn: shown.includes(name),
    onPress: () => choose(name),
  }))
}

const SUMMED_BY = [
  { value: 'all', says: 'In all' },
  { value: 'caller', says: 'By caller' },
  { value: 'approver', says: 'By approver' },
]

/** Of the first value that has a column. */
function Sums({
  filter,
  values,
}: {
  filter: string
  values: readonly string[]
}): JSX.Element | null {
  const [by, setBy] = useState('all')
  const path = values.find((one) => one !== APPROVED_BY)
  const { value } = useResource<RecordedSum>(
    path === undefined
      ? undefined
      : `/ledger/sum${filter === '' ? '?' : `${filter}&`}${formatQuery({ sort: path, by: by === 'all' ? '' : by }).slice(1)}`,
  )
  if (value === undefined || value.currencies.length === 0) return null
  const hasCurrency = value.currencies.some(({ currency }) => currency !== '')
  return (
    <div className="small num">
      <div className="row">
        <div role="status">
          {value.currencies.map(({ currency, calls, sum, allowed, allowedSum, min, max }) => (
            <p key={currency}>
              {plural(calls, 'call')}, sum of {path?.replace(/^args\./, '')}{' '}
              {allowed < calls ? amount(sum) : <b>{amount(sum)}</b>}
              {currency !== '' && (
                <>
                  {' '}
                  <UntrustedText text={currency} className="strong" />
                </>
              )}
              , from {amount(min)} to {amount(max)}
              {allowed < calls && (
                <>
                  ; {count(allowed)} of them allowed, sum <b>{amount(allowedSum)}</b>
                </>
              )}
              {currency === '' && '; no currency is on record'}
            </p>
          ))}
        </div>
        <Chips label="Sums of" value={by} onChange={setBy} choices={SUMMED_BY} />
      </div>
      {value.groups !== undefined && (
        <DataTable
          label="Sums"
          rows={value.groups}
          keyOf={({ name, currency }) => `${name} ${currency}`}
          columns={[
            {
              head: by === 'caller' ? 'Caller' : 'Decided by',
              cell: ({ name }) => <UntrustedText text={name} />,
            },
            { head: 'Calls', className: 'right num', cell: (one) => count(one.calls) },
            { head: 'Allowed', className: 'right num', cell: (one) => count(one.allowed) },
            { head: 'Sum of those', className: 'right num', cell: (one) => amount(one.allowedSum) },
            hasCurrency && {
              head: 'Currency',
              cell: ({ currency }) => <UntrustedText text={currency} />,
            },
          ]}
        />
      )}
    </div>
  )
}

function Views({
  isTimeline,
  isFollowing,
}: {
  isTimeline: boolean
  isFollowing: boolean
}): JSX.Element {
  return (
    <>
      <Chips
        label="Order"
        value={isTimeline ? 'timeline' : 'list'}
        onChange={(view) => setQuery({ view: view === 'list' ? '' : view })}
        choices={[
          { value: 'list', says: 'Newest first' },
          { value: 'timeline', says: 'Timeline' },
        ]}
      />
      {!isTimeline && (
        <Button
          onPress={() => setQuery({ follow: isFollowing ? '' : '1', sort: '', order: '' })}
          aria-pressed={isFollowing}
        >
          <Icon name={isFollowing ? 'pause' : 'play'} /> {isFollowing ? 'Following' : 'Follow'}
        </Button>
      )}
    </>
  )
}

/** Why fewer calls are shown than there may be. */
function Progress({
  found: { state, fault, again },
  isFiltered,
  isTimeline,
}: {
  found: FilteredCalls
  isFiltered: boolean
  isTimeline: boolean
}): JSX.Element {
  const { behind = 0, notFollowed, searchedToMs, looked, calls } = state ?? {}
  const isSearching = searchedToMs !== undefined || looked !== undefined
  return (
    <>
      {fault !== undefined && <ErrorNotice error={fault} again={again} />}
      {state === undefined && fault === undefined && <Loading />}
      <div role="status">
        {behind > 0 && (
          <Notice>
            The newest {count(behind)} records are being indexed and not searched yet; the page
            looks again by itself.
          </Notice>
        )}
        {searchedToMs !== undefined && (
          <Notice>
            Searched {isTimeline ? 'up to' : 'back to'} {date(searchedToMs)} so far.
          </Notice>
        )}
        {looked !== undefined && <Notice>Looked through {count(looked)} values so far.</Notice>}
        {notFollowed !== undefined && <NotFollowed why={notFollowed} />}
      </div>
      {calls?.length === 0 && behind === 0 && !isSearching && (
        <Empty icon="ledger" title={isFiltered ? 'No matching calls' : 'No calls yet'}>
          {isFiltered ? (
            'Names match exactly. Remove a filter to see more.'
          ) : (
            <>
              Every call is recorded here before it is made. Point an MCP client at{' '}
              <code>{location.origin}/mcp</code>, or run <code>npx sluice init</code>.
            </>
          )}
        </Empty>
      )}
    </>
  )
}

function toParameter(name: string, value: string): string {
  return formatQuery({ [name]: value }).slice(1)
}

/** Whose calls the timeline shows, and from when to when. */
function TimelineHead({
  span: { sinceMs, untilMs },
  first,
  filter,
}: {
  span: CallHistogram
  first: CallRecord | undefined
  filter: CallFilter
}): JSX.Element {
  const { session, agent, ...others } = filter
  const isPart = Object.values(others).some((value) => value !== '')
  const isOne = session !== '' || agent !== ''
  return (
    <div className="row">
      <p className="small muted">
        {isOne ? (
          <>
            {session === '' ? 'Agent' : 'Session'} of{' '}
            <UntrustedText text={first?.principal ?? ''} className="strong" />
            {session !== '' && first?.sessionName !== undefined && (
              <>
                , client <UntrustedText text={first.sessionName} />
              </>
            )}
            :{' '}
          </>
        ) : (
          'Everything. Choose a session or an agent in a row to see only its calls: '
        )}
        {moment(sinceMs)} to {moment(untilMs)}, {duration(untilMs - sinceMs)}.{' '}
        {isOne && isPart && (
          <Link to={`/ledger${formatQuery({ session, agent, view: 'timeline' })}`}>
            {session === '' ? 'All of this agent' : 'The whole session'}
          </Link>
        )}
      </p>
      {isOne && first !== undefined && (
        <FreezeButton
          target={
            agent === ''
              ? { scope: 'principal', id: first.principal }
              : { scope: 'agent', id: agent }
          }
        />
      )}
    </div>
  )
}

const FOLLOW_MS = 5_000
const NO_SPAN = { sinceMs: 0, untilMs: 1 }
const NONE: readonly CallRecord[] = []
const getKey = ({ seq }: CallRecord): string => String(seq)

type Verified = VerificationView & { readonly atMs: number }

function Verify(): JSX.Element {
  const [result, setResult] = useState<Verified | 'busy'>()
  const verify = () => {
    setResult('busy')
    post<VerificationView>('/ledger/verify').then(
      (view) => setResult({ ...view, atMs: Date.now() }),
      (error) => {
        setResult(undefined)
        complain(error)
      },
    )
  }
  return (
    <>
      <Button onPress={verify} isDisabled={result === 'busy'}>
        <Icon name="policy" /> {result === 'busy' ? 'Verifying…' : 'Verify'}
      </Button>
      {result !== undefined && result !== 'busy' && (
        <div role="status">
          <Notice kind={result.ok ? 'good' : 'bad'}>
            <p>{result.ok ? describeVerified(result) : <UntrustedText text={result.says} />}</p>
            <NotVerified {...result} />
          </Notice>
        </div>
      )}
    </>
  )
}

function describeVerified({ records, signedUpTo, gate, durationMs, atMs }: Verified): string {
  const whose = gate === undefined ? '' : ` of the gate ${gate}`
  const signed = signedUpTo === 0 ? 'no checkpoint yet' : `signed up to record ${count(signedUpTo)}`
  return `${count(records)} records${whose} are as they were written (${signed}; ${millis(durationMs)}, at ${clock(atMs)})`
}

/** Says plainly whose chains the answer is not about. */
function NotVerified({ gate, notVerified }: VerificationView): JSX.Element | null {
  if (gate === undefined || notVerified?.length === 0) return null
  const others =
    notVerified == null
      ? 'those of other gates'
      : `those of ${notVerified.slice(0, GATES_NAMED).join(', ')}${notVerified.length > GATES_NAMED ? ` and ${notVerified.length - GATES_NAMED} more` : ''}`
  return (
    <p className="muted">
      Only the chain of {gate} was verified, not {others}. <code>sluice ledger verify --store</code>{' '}
      verifies all.
    </p>
  )
}

const GATES_NAMED = 5
