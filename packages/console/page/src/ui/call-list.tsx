// A few recorded calls of a session in order, each of which opens.

import { titleOfCall } from '@sluice/ledger/records/call-title'
import type { JSX } from 'react'
import type { CallRecord } from '../../../src/contract/contract.ts'
import { OutcomeBadge } from './marks.tsx'
import { TextLine, UntrustedText } from './text.tsx'
import { clock } from './words.ts'

interface CallListProps {
  readonly calls: readonly CallRecord[]
  readonly onOpen: (call: CallRecord) => void
}

export function CallList({ calls, onOpen }: CallListProps): JSX.Element {
  return (
    <ol className="before">
      {calls.map((call) => (
        <li key={call.seq}>
          <button type="button" className="line-button" onClick={() => onOpen(call)}>
            <span className="muted num small">{clock(call.atMs)}</span>
            <OutcomeBadge word={call.word} bare />
            <span className="mono call-title">
              <UntrustedText text={titleOfCall(call)} />
            </span>
            {call.redacted.length > 0 && (
              <span className="tag">redacted {call.redacted.join(', ')}</span>
            )}
            {call.labels.length > 0 && <span className="tag high">{call.labels.join(', ')}</span>}
            <TextLine
              text={call.word === 'allow' && call.code !== 'APPROVED' ? '' : call.reason}
              className="muted small"
            />
          </button>
        </li>
      ))}
    </ol>
  )
}
