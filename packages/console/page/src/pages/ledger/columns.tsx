// The columns of recorded calls, as a list or as the timeline of one session or agent. A row opens the
// explanation; the funnel beside a value filters by it.

import { splitTitle } from '@sluice/ledger/records/call-title'
import type { JSX, ReactNode } from 'react'
import { pathTo, setQuery } from '../../route.ts'
import { Link } from '../../ui/button.tsx'
import { Icon } from '../../ui/icons.tsx'
import { OutcomeBadge } from '../../ui/marks.tsx'
import type { Column } from '../../ui/table.tsx'
import { NameLine, TextLine } from '../../ui/text.tsx'
import { amount, duration, millis, moment, nameRecord, plural } from '../../ui/words.ts'
import type { ListedCall } from './calls.ts'

type CallColumn = Column<ListedCall>

/** Chosen among the columns of values. */
export const APPROVED_BY = 'approver'

const DECISION: CallColumn = {
  key: 'decision',
  head: 'Decision',
  width: '104px',
  cell: (call) => (
    <Value says="this decision" query={{ word: call.word, action: '' }}>
      <OutcomeBadge word={call.word} />
    </Value>
  ),
}

const TOOL: CallColumn = {
  key: 'tool',
  head: 'Tool',
  width: 'minmax(150px, 1.2fr)',
  cell: (call) => {
    const [called, target] = splitTitle(call)
    return (
      <>
        <Value says="this tool" query={{ server: call.server, name: call.name }}>
          <NameLine text={called} className={call.isInner ? 'strong inner' : 'strong'} />
          {target !== '' && <NameLine text={target} />}
        </Value>
        <InnerCalls of={call} />
      </>
    )
  },
}

/** Unfolds the calls of a program. The drawer has them for keys. */
function InnerCalls({ of: { callId, inner = 0, isUnfolded } }: { of: ListedCall }): ReactNode {
  if (inner === 0) return null
  return (
    <button
      type="button"
      className="unfold small muted num"
      tabIndex={-1}
      aria-label={plural(inner, 'call')}
      aria-expanded={isUnfolded}
      onClick={() => setQuery({ run: isUnfolded ? '' : callId })}
    >
      <Icon name={isUnfolded ? 'down' : 'next'} size={10} /> {inner}
      <span> {inner === 1 ? 'call' : 'calls'}</span>
    </button>
  )
}

const REASON: CallColumn = {
  key: 'reason',
  head: 'Reason',
  width: 'minmax(46px, 2fr)',
  cell: ({ word, code, reason, shadowText = '' }) => {
    // Who approved it; that a rule allows a call is no news.
    const shown = word === 'allow' && code !== 'APPROVED' ? '' : reason
    const text = [shown, shadowText && `shadow: ${shadowText}`].filter((part) => part !== '')
    if (text.length === 0) return null
    return (
      <Value says={`the code ${code}`} query={{ code }}>
        <TextLine text={text.join(' · ')} className="muted" />
      </Value>
    )
  },
}

const OUTCOME: CallColumn = {
  key: 'outcome',
  head: 'Outcome',
  width: 'minmax(76px, 130px)',
  isExtra: true,
  cell: ({ status, durationMs, redacted }) =>
    status !== null && (
      <span className="num muted">
        <span className={status === 'answered' ? 'usual-status' : undefined}>{status} </span>
        {millis(durationMs ?? 0)}
        {redacted.length > 0 && (
          <span title={`Removed from its answer: ${redacted.join(', ')}`}> ✂</span>
        )}
      </span>
    ),
}

/** In every row it would take the room of the name; its quotation marks say the same. */
const SELF_REPORTED = ' (self-reported)'

/** With the client of the session, as it calls itself. */
const CALLER: CallColumn = {
  key: 'who',
  head: 'Who',
  width: 'minmax(80px, 1fr)',
  cell: ({ principal, agent, session, sessionName }) => (
    <>
      <Value says="this principal" query={{ principal }}>
        <TextLine text={principal} className="muted" />
      </Value>
      {agent !== null && (
        <Value says="this agent" query={{ agent }}>
          <span className="muted">agent</span>
        </Value>
      )}
      {agent === null && sessionName !== undefined && (
        <Value says="this session" query={{ session }}>
          <TextLine text={sessionName.replace(SELF_REPORTED, '')} className="muted" />
          {sessionName.endsWith(SELF_REPORTED) && (
            <span className="visually-hidden">{SELF_REPORTED}</span>
          )}
        </Value>
      )}
    </>
  ),
}

interface ListOptions {
  /** The path whose values the calls are sorted by; empty if they are not. */
  readonly sort: string
  readonly isSmallest: boolean
  /** Records are of several gates. */
  readonly ofGates: boolean
  /** The paths whose values are numbers. */
  readonly numbers: readonly string[]
}

/** Newest first, with a column for each recorded value that is asked for. */
export function listColumns(
  values: readonly string[],
  { sort, isSmallest, ofGates, numbers }: ListOptions,
): CallColumn[] {
  return [
    {
      key: 'record',
      head: 'Record',
      isExtra: true,
      width: ofGates ? '120px' : '64px',
      cell: (call) => <span className="num muted">{nameRecord(call)}</span>,
    },
    {
      key: 'when',
      head: 'When',
      width: 'minmax(112px, 150px)',
      cell: (call) => <span className="num muted">{moment(call.atMs)}</span>,
    },
    DECISION,
    TOOL,
    CALLER,
    ...(values.includes(APPROVED_BY) ? [APPROVER] : []),
    ...values
      .filter((path) => path !== APPROVED_BY)
      .map(
        (path): CallColumn => ({
          key: 'value',
          head: path.replace(/^args\./, ''),
          width: numbers.includes(path) ? 'minmax(76px, 0.5fr)' : 'minmax(76px, 1fr)',
          isNumber: numbers.includes(path),
          cell: ({ values: known }) => <TextLine text={formatValue(known[path])} className="num" />,
          isSorted: path !== sort ? undefined : isSmallest ? 'ascending' : 'descending',
          onSort: () =>
            setQuery({
              sort: path === sort && isSmallest ? '' : path,
              order: path === sort && !isSmallest ? 'smallest' : '',
            }),
        }),
      ),
    { ...REASON, isExtra: values.length > 0 },
    OUTCOME,
  ]
}

/** Who approved it, by the name of its column. */
const APPROVER: CallColumn = {
  key: 'approver',
  head: 'Decided by',
  width: 'minmax(80px, 0.6fr)',
  cell: ({ approvers, refusal, approval }) => {
    const by = refusal?.by ?? approvers.join(', ')
    return (
      by !== '' && (
        <Link to={pathTo('approvals', approval ?? '')} className="cut">
          <TextLine text={by} />
        </Link>
      )
    )
  },
}

function formatValue(value: number | string | undefined): string {
  return typeof value === 'number' ? amount(value) : (value ?? '')
}

/** From the first to the last moment of what is shown. */
export function timelineColumns(span: { sinceMs: number; untilMs: number }): CallColumn[] {
  const lengthMs = Math.max(1, span.untilMs - span.sinceMs)
  const share = (ms: number) => `${Math.max(0, Math.min(100, (ms / lengthMs) * 100))}%`
  return [
    {
      key: 'when',
      head: 'After',
      width: '90px',
      cell: (call) => (
        <span className="num muted" title={moment(call.atMs)}>
          +{duration(call.atMs - span.sinceMs)}
        </span>
      ),
    },
    DECISION,
    TOOL,
    {
      key: 'span',
      head: 'From start to end',
      width: 'minmax(120px, 1.4fr)',
      cell: (call) => (
        <span className="timeline-track" aria-hidden="true">
          <span
            className={`timeline-bar ${call.word}`}
            style={{ left: share(call.atMs - span.sinceMs), width: share(call.durationMs ?? 0) }}
          />
        </span>
      ),
    },
    REASON,
    OUTCOME,
  ]
}

/** A text with a funnel that shows only calls with it. */
function Value({
  says,
  query,
  children,
}: {
  says: string
  query: Readonly<Record<string, string>>
  children: ReactNode
}): JSX.Element {
  return (
    <>
      {children}
      <button
        type="button"
        className="only"
        tabIndex={-1}
        title={`Show only ${says}`}
        aria-label={`Show only ${says}`}
        onClick={() => setQuery(query, 'push')}
      >
        <Icon name="filter" size={12} />
      </button>
    </>
  )
}
