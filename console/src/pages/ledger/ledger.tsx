// Ledger: every recorded call, newest first or as a timeline from start to end; its histogram, its
// filters, new calls as they come, verify, export. Filters, view and the open call are in the address.

import { type JSX, useState } from 'react'
import type {
  CallHistogram,
  CallRecord,
  VerificationView,
} from '../../../../packages/sluice/src/admin/contract/contract.ts'
import { formatQuery, post } from '../../api.ts'
import { FreezeButton } from '../../freeze.tsx'
import { useResource } from '../../resource.ts'
import { setQuery, useRoute } from '../../route.ts'
import { Button, Link } from '../../ui/button.tsx'
import { Chips } from '../../ui/fields.tsx'
import { Icon } from '../../ui/icons.tsx'
import { VirtualList } from '../../ui/long-list.tsx'
import { useNarrow } from '../../ui/narrow.ts'
import { Empty, ErrorNotice, Loading, NotFollowed, Notice, PageHead } from '../../ui/page.tsx'
import { UntrustedText } from '../../ui/text.tsx'
import { complain } from '../../ui/toasts.tsx'
import { clock, count, date, duration, millis, moment } from '../../ui/words.ts'
import { CallExplanationDrawer, useOpenCall } from '../live/explained.tsx'
import { useCalls } from './calls.ts'
import { Events } from './events.tsx'
import { Export } from './export.tsx'
import { type CallFilter, Filters, useFilter } from './filters.tsx'
import { Histogram } from './histogram.tsx'
import { CallRow, TimelineRow, TimelineSpan } from './rows.tsx'
import './ledger.css'

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
  const { filter, key } = useFilter()
  const isTimeline = query.get('view') === 'timeline'
  const isFollowing = query.get('follow') === '1' && !isTimeline
  const { state, fault, news, again, more } = useCalls(
    key,
    isTimeline ? 'oldest' : 'newest',
    isFollowing,
  )
  const { call, open } = useOpenCall()
  const ofGates = state?.calls[0]?.origin !== undefined
  const isNarrow = useNarrow()
  const every = isFollowing ? FOLLOWED_MS : undefined
  const histogram = useResource<CallHistogram>(`/ledger/histogram${key}`, every)
  const refresh = () => {
    again()
    histogram.reload()
  }
  return (
    <div className="page-body ledger-body">
      <div className="row ledger-filters">
        <Filters filter={filter} isSet={key !== ''}>
          <span className="spacer" />
          <div className="row ledger-export">
            <Export filters={key} />
          </div>
        </Filters>
      </div>
      {histogram.value !== undefined && histogram.value.intervals.length > 0 && (
        <Histogram data={histogram.value} />
      )}
      <div className="row">
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
            onPress={() => setQuery({ follow: isFollowing ? '' : '1' })}
            aria-pressed={isFollowing}
          >
            <Icon name={isFollowing ? 'pause' : 'play'} /> {isFollowing ? 'Following' : 'Follow'}
          </Button>
        )}
        <span role="status">
          {news > 0 && (
            <Button kind="primary" onPress={refresh}>
              {news === 1 ? '1 new call' : `${news < 200 ? news : '200 or more'} new calls`}
            </Button>
          )}
        </span>
      </div>
      {isTimeline && histogram.value !== undefined && (
        <TimelineHead span={histogram.value} first={state?.calls[0]} filter={filter} />
      )}
      <section
        className={`card ledger-rows${isTimeline ? ' timeline' : ''}${ofGates ? ' of-gates' : ''}`}
        aria-label="Calls on record"
        aria-busy={state === undefined}
      >
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
        {state?.notFollowed !== undefined && (
          <div className="ledger-behind">
            <NotFollowed why={state.notFollowed} />
          </div>
        )}
        {state?.searchedToMs !== undefined && (
          <div className="ledger-behind" role="status">
            <Notice>
              Searched {isTimeline ? 'up to' : 'back to'} {date(state.searchedToMs)} so far.
            </Notice>
          </div>
        )}
        {state?.calls.length === 0 && state.behind === 0 && state.searchedToMs === undefined && (
          <Empty icon="ledger" title={key === '' ? 'No calls yet' : 'No matching calls'}>
            {key === ''
              ? 'Every call is recorded here before it is made.'
              : 'Names match exactly. Remove a filter to see more.'}
          </Empty>
        )}
        <TimelineSpan value={histogram.value ?? NO_SPAN}>
          <VirtualList
            key={isTimeline ? 'timeline' : 'list'}
            items={state?.calls ?? NONE}
            px={isNarrow ? 54 : 34}
            keyOf={getSeq}
            Row={isTimeline ? TimelineRow : CallRow}
            onOpen={open}
            className="ledger-scroll"
            head={<Heads isTimeline={isTimeline} />}
            onNearEnd={more}
          />
        </TimelineSpan>
      </section>
      {call !== undefined && <CallExplanationDrawer at={call} onClose={() => open(undefined)} />}
    </div>
  )
}

function Heads({ isTimeline }: { isTimeline: boolean }): JSX.Element {
  return (
    <div className={`ledger-head${isTimeline ? ' timeline-row' : ''}`} aria-hidden="true">
      {(isTimeline ? TIMELINE_HEADS : HEADS).map((head) => (
        <span key={head}>{head}</span>
      ))}
    </div>
  )
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

const FOLLOWED_MS = 5_000
const HEADS = ['Record', 'When', 'Decision', 'Tool', 'Who', 'Reason', 'Outcome']
const TIMELINE_HEADS = ['After', 'Decision', 'Tool', 'From start to end', 'Reason', 'Outcome']
const NO_SPAN = { sinceMs: 0, untilMs: 1 }
const NONE: readonly CallRecord[] = []
const getSeq = ({ seq }: CallRecord): number => seq

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
