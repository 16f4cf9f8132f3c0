// Denies every held call of a session, confirmed once.

import { titleOfCall } from '@sluice/ledger/records/call-title'
import type { JSX } from 'react'
import type { ApprovalRequest } from '../../../../src/contract/contract.ts'
import { go } from '../../route.ts'
import { sendWithProof } from '../../session.ts'
import { AskButton, type FormValues } from '../../ui/ask.tsx'
import { TextLine } from '../../ui/text.tsx'
import { showToast } from '../../ui/toasts.tsx'
import { plural } from '../../ui/words.ts'
import { summarize } from './groups.ts'
import { upsertRequest } from './inbox.ts'

export function DenyAll({ requests }: { requests: readonly ApprovalRequest[] }): JSX.Element {
  const deny = async (values: FormValues) => {
    const body = { ids: requests.map(({ id }) => id), ...values }
    const { requests: denied } = await sendWithProof<{ requests: ApprovalRequest[] }>(
      'POST',
      '/approvals/deny',
      body,
    )
    for (const request of denied) upsertRequest(request)
    // What was open is decided.
    if (location.pathname.startsWith('/approvals')) go('/approvals', true)
    showToast(`Denied ${plural(denied.length, 'call')}`, { kind: 'plain' })
  }
  return (
    <AskButton
      says={`Deny all (${requests.length})`}
      button="refuse"
      title={`Deny ${plural(requests.length, 'held call')} of this session`}
      fields={[{ name: 'comment', label: 'Reason (callers see it, and it is on record)' }]}
      confirm={`Deny ${plural(requests.length, 'call')}`}
      icon="key"
      kind="refuse"
      onSubmit={deny}
    >
      <ul className="scroll low">
        {requests.map((request) => (
          <li key={request.id} className="row">
            <TextLine text={titleOfCall(request)} className="strong" />
            <TextLine text={summarize(request.args)} className="mono small muted" />
          </li>
        ))}
      </ul>
    </AskButton>
  )
}
