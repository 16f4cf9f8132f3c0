// A recorded call as a row of the list, or of the timeline of one session or agent. The row opens the
// explanation; a value in it filters by that value.

import { createContext, type JSX, memo, type ReactNode, useContext } from 'react'
import type { CallRecord } from '../../../../packages/sluice/src/admin/contract/contract.ts'
import { titleOfCall } from '../../../../packages/sluice/src/core/call-title.ts'
import { setQuery } from '../../route.ts'
import type { RowOf } from '../../ui/long-list.tsx'
import { OutcomeBadge } from '../../ui/marks.tsx'
import { TextLine } from '../../ui/text.tsx'
import { duration, millis, moment, nameRecord } from '../../ui/words.ts'

export const CallRow = memo(function CallRow(props: RowOf<CallRecord>): JSX.Element {
  const { item: call } = props
  return (
    <Row {...props} className="ledger-row">
      <span className="num muted">{nameRecord(call)}</span>
      <span className="num muted">{moment(call.atMs)}</span>
      <Decision call={call} />
      <Tool call={call} />
      <Caller call={call} />
      <Reason call={call} />
      <Outcome call={call} />
    </Row>
  )
})

/** First and last moment of what the timeline shows. */
export const TimelineSpan = createContext({ sinceMs: 0, untilMs: 1 })

export const TimelineRow = memo(function TimelineRow(props: RowOf<CallRecord>): JSX.Element {
  const { item: call } = props
  const { sinceMs, untilMs } = useContext(TimelineSpan)
  const lengthMs = Math.max(1, untilMs - sinceMs)
  const share = (ms: number) => `${Math.max(0, Math.min(100, (ms / lengthMs) * 100))}%`
  return (
    <Row {...props} className="ledger-row timeline-row">
      <span className="num muted" title={moment(call.atMs)}>
        +{duration(call.atMs - sinceMs)}
      </span>
      <Decision call={call} />
      <Tool call={call} />
      <span className="timeline-track" aria-hidden="true">
        <span
          className={`timeline-bar ${call.word}`}
          style={{ left: share(call.atMs - sinceMs), width: share(call.durationMs ?? 0) }}
        />
      </span>
      <Reason call={call} />
      <Outcome call={call} />
    </Row>
  )
})

function Row({
  item: call,
  onOpen,
  className,
  children,
}: RowOf<CallRecord> & { className: string; children: ReactNode }): JSX.Element {
  return (
    <div className={className} title={call.reason}>
      <button
        type="button"
        className="row-open"
        aria-label={`Explain record ${nameRecord(call)}`}
        onClick={() => onOpen(call)}
      />
      {children}
    </div>
  )
}

function Decision({ call }: { call: CallRecord }): JSX.Element {
  return (
    <Value says="this decision" query={{ word: call.word, action: '' }}>
      <OutcomeBadge word={call.word} />
    </Value>
  )
}

function Tool({ call }: { call: CallRecord }): JSX.Element {
  return (
    <Value says="this tool" query={{ server: call.server, name: call.name }}>
      <TextLine text={titleOfCall(call)} className="strong" />
    </Value>
  )
}

/** In every row it would take the room of the name; its quotation marks say the same. */
const SELF_REPORTED = ' (self-reported)'

/** With the client of the session, as it calls itself. */
function Caller({ call }: { call: CallRecord }): JSX.Element {
  const { principal, agent, session, sessionName } = call
  return (
    <span className="ledger-caller muted">
      <Value says="this principal" query={{ principal }}>
        <TextLine text={principal} />
      </Value>
      {agent !== null && (
        <Value says="this agent" query={{ agent }}>
          <TextLine text="agent" />
        </Value>
      )}
      {agent === null && sessionName !== undefined && (
        <Value says="this session" query={{ session }} className="session-value">
          <TextLine text={sessionName.replace(SELF_REPORTED, '')} />
          {sessionName.endsWith(SELF_REPORTED) && (
            <span className="visually-hidden">{SELF_REPORTED}</span>
          )}
        </Value>
      )}
    </span>
  )
}

function Reason({ call }: { call: CallRecord }): JSX.Element {
  const { word, code, reason, shadowText = '' } = call
  const shown = word === 'allow' ? '' : reason
  const text = [shown, shadowText && `shadow: ${shadowText}`].filter((part) => part !== '')
  if (text.length === 0) return <span />
  return (
    <Value says={`the code ${code}`} query={{ code }}>
      <TextLine text={text.join(' · ')} className="muted" />
    </Value>
  )
}

function Outcome({ call: { status, durationMs } }: { call: CallRecord }): JSX.Element {
  return (
    <span className="num muted">
      {status !== null && (
        <>
          <span className={status === 'answered' ? 'usual-status' : undefined}>{status} </span>
          {millis(durationMs ?? 0)}
        </>
      )}
    </span>
  )
}

function Value({
  says,
  query,
  className = '',
  children,
}: {
  says: string
  query: Readonly<Record<string, string>>
  className?: string
  children: ReactNode
}): JSX.Element {
  return (
    <button
      type="button"
      className={`value ${className}`}
      title={`Show only ${says}`}
      onClick={() => setQuery(query, 'push')}
    >
      {children}
    </button>
  )
}
