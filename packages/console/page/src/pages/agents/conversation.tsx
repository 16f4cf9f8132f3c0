// A conversation in order: prompts, what the model said and what that took, each call with its arguments
// and result. The mark of a call is that of its record in the ledger; all text is untrusted.

import { attempt } from '@sluice/policy/structures/attempt'
import type { JSX } from 'react'
import type {
  AgentMessage,
  AgentTurn,
  CallAddress,
  CallRecord,
} from '../../../../src/contract/contract.ts'
import { pathTo } from '../../route.ts'
import { Button, Link } from '../../ui/button.tsx'
import { Icon } from '../../ui/icons.tsx'
import { OutcomeBadge } from '../../ui/marks.tsx'
import { Empty } from '../../ui/page.tsx'
import { LongText, TextLine, UntrustedText } from '../../ui/text.tsx'
import { clock, millis, money, nameRecord, short } from '../../ui/words.ts'
import { summarize } from '../approvals/groups.ts'

type OpenCall = (call: CallAddress) => void

interface ConversationProps {
  readonly messages: readonly AgentMessage[]
  readonly turns: readonly AgentTurn[]
  readonly onCall: OpenCall
}

export function Conversation({ messages, turns, onCall }: ConversationProps): JSX.Element {
  if (messages.length === 0)
    return (
      <div className="card">
        <Empty icon="agents" title="Nothing was said yet" />
      </div>
    )
  const matched = matchTurns(messages, turns)
  return (
    <ol className="stack" aria-label="Conversation">
      {messages.map((message, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a conversation only grows
        <li key={at} className={`card card-body stack message-by ${message.role}`}>
          <span className="row muted small">
            <span className="strong">{message.role === 'user' ? 'Prompt' : 'Agent'}</span>
            <TurnFigures turn={matched[at]} />
          </span>
          {message.text !== '' && <LongText text={message.text} />}
          {message.calls.map((call) => (
            <Call
              key={call.id}
              call={call}
              records={matched[at]?.calls.find(({ id }) => id === call.id)?.records ?? []}
              onCall={onCall}
            />
          ))}
        </li>
      ))}
    </ol>
  )
}

/** A turn has one answer of the model. By the ids of its calls; answers without any follow in order. */
function matchTurns(
  messages: readonly AgentMessage[],
  turns: readonly AgentTurn[],
): (AgentTurn | undefined)[] {
  const byCall = new Map(turns.flatMap((turn, at) => turn.calls.map(({ id }) => [id, at] as const)))
  let next = 0
  return messages.map(({ role, calls }) => {
    if (role !== 'assistant') return undefined
    const known = byCall.get(calls[0]?.id ?? '')
    const at = known ?? (turns[next]?.calls.length === 0 ? next : undefined)
    if (at !== undefined) next = at + 1
    return at === undefined ? undefined : turns[at]
  })
}

function TurnFigures({ turn }: { turn: AgentTurn | undefined }): JSX.Element | null {
  if (turn === undefined) return null
  const { atMs, modelMs, inputTokens, outputTokens, cost } = turn
  return (
    <span className="num">
      turn {turn.turn} · {clock(atMs)} · {millis(modelMs)} · {short(inputTokens)}{' '}
      {inputTokens === 1 ? 'token' : 'tokens'} in, {short(outputTokens)} out
      {cost === null ? '' : ` · cost ${money(cost)}`}
    </span>
  )
}

interface CallProps {
  readonly call: AgentMessage['calls'][number]
  readonly records: readonly CallRecord[]
  readonly onCall: OpenCall
}

function Call({ call, records, onCall }: CallProps): JSX.Element {
  const final = records.at(-1)
  return (
    <details className="call">
      <summary className="line-button">
        <Icon name="next" />
        <UntrustedText text={call.name.replace('__', '/')} className="call-title mono strong" />
        <TextLine text={summarize(call.input)} className="mono small muted" />
        {final !== undefined && <OutcomeBadge word={final.word} says={final.code} />}
        {call.result === null ? (
          <span className="muted small">…</span>
        ) : final === undefined ? (
          <span className="muted small">{call.isError ? 'failed' : 'done'}</span>
        ) : (
          call.isError && final.word === 'allow' && <span className="muted small">error</span>
        )}
        {final?.durationMs != null && (
          <span className="muted small num">{millis(final.durationMs)}</span>
        )}
      </summary>
      <div className="stack call-body">
        {records.map((record) => (
          <Recorded key={record.seq} record={record} onCall={onCall} />
        ))}
        <LongText text={pretty(call.input)} code />
        {call.result !== null && <LongText text={call.result} code />}
      </div>
    </details>
  )
}

/** Leads to the record, and to the approval that was asked for by it. */
function Recorded({ record, onCall }: { record: CallRecord; onCall: OpenCall }): JSX.Element {
  return (
    <div className="row small">
      <OutcomeBadge word={record.word} bare says={record.code} />
      <span className="muted num">{clock(record.atMs)}</span>
      <Button kind="quiet" onPress={() => onCall(record)}>
        Record {nameRecord(record)}
      </Button>
      {record.approval !== undefined && (
        <Link to={pathTo('approvals', record.approval)}>Approval</Link>
      )}
    </div>
  )
}

function pretty(json: string): string {
  return attempt(() => JSON.stringify(JSON.parse(json), null, 2), json)
}
