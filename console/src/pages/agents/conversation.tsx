// A conversation in order: prompts, what the model said, each call with its arguments and result,
// including refusals of the gate. All of it is untrusted text.

import type { JSX } from 'react'
import type { AgentMessage } from '../../../../packages/sluice/src/admin/contract/contract.ts'
import { Icon } from '../../ui/icons.tsx'
import { OutcomeBadge } from '../../ui/marks.tsx'
import { Empty } from '../../ui/page.tsx'
import { SaidAtLength, UntrustedText } from '../../ui/said.tsx'

const REFUSED =
  /\b(DENIED|RATE_LIMITED|SPEND_LIMITED|DEFINITION_CHANGED|FROZEN|APPROVAL_\w+|POLICY_FAULT)\b/

export function Conversation({ messages }: { messages: readonly AgentMessage[] }): JSX.Element {
  if (messages.length === 0)
    return (
      <div className="card">
        <Empty icon="agents" title="Nothing was said yet" />
      </div>
    )
  return (
    <ol className="stack" aria-label="Conversation">
      {messages.map((message, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a conversation only grows
        <li key={at} className={`said-by ${message.role}`}>
          <span className="muted small strong">{message.role === 'user' ? 'Prompt' : 'Agent'}</span>
          {message.text !== '' && <SaidAtLength text={message.text} />}
          {message.calls.map((call) => (
            <Call key={call.id} call={call} />
          ))}
        </li>
      ))}
    </ol>
  )
}

function Call({ call }: { call: AgentMessage['calls'][number] }): JSX.Element {
  const refused = call.isError ? REFUSED.exec(call.result ?? '')?.[1] : undefined
  return (
    <details className="call">
      <summary>
        <Icon name="next" />
        <UntrustedText text={call.name.replace('__', '/')} className="mono strong" />
        {call.result === null ? (
          <span className="muted small">…</span>
        ) : refused !== undefined ? (
          <OutcomeBadge
            word={
              refused.endsWith('LIMITED')
                ? 'limited'
                : refused.startsWith('APPROVAL')
                  ? 'ask'
                  : 'deny'
            }
            says={refused}
          />
        ) : (
          <OutcomeBadge
            word={call.isError ? 'deny' : 'allow'}
            says={call.isError ? 'error' : 'ok'}
            bare
          />
        )}
      </summary>
      <div className="stack call-body">
        <SaidAtLength text={pretty(call.input)} code />
        {call.result !== null && <SaidAtLength text={call.result} code />}
      </div>
    </details>
  )
}

function pretty(json: string): string {
  try {
    return JSON.stringify(JSON.parse(json), null, 2)
  } catch {
    return json
  }
}
