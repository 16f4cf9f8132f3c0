// Denies every held call of a session, confirmed once.

import { type JSX, useState } from 'react'
import type { ApprovalRequest } from '../../../../packages/sluice/src/admin/contract/contract.ts'
import { titleOfCall } from '../../../../packages/sluice/src/core/call-title.ts'
import { go } from '../../route.ts'
import { sendWithProof } from '../../session.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { TextField } from '../../ui/fields.tsx'
import { Icon } from '../../ui/icons.tsx'
import { TextLine } from '../../ui/text.tsx'
import { complain, showToast } from '../../ui/toasts.tsx'
import { plural } from '../../ui/words.ts'
import { summarize } from './groups.ts'
import { upsertRequest } from './inbox.ts'

export function DenyAll({ requests }: { requests: readonly ApprovalRequest[] }): JSX.Element {
  const [isAsking, setAsking] = useState(false)
  const [comment, setComment] = useState('')
  const deny = () => {
    const ids = requests.map(({ id }) => id)
    sendWithProof<{ requests: ApprovalRequest[] }>('POST', '/approvals/deny', {
      ids,
      comment,
    }).then(({ requests: denied }) => {
      for (const request of denied) upsertRequest(request)
      setAsking(false)
      // What was open is decided.
      if (location.pathname.startsWith('/approvals')) go('/approvals', true)
      showToast(`Denied ${plural(denied.length, 'call')}`)
    }, complain)
  }
  return (
    <>
      <Button kind="refuse" onPress={() => setAsking(true)}>
        Deny all ({requests.length})
      </Button>
      {isAsking && (
        <Dialog
          title={`Deny ${plural(requests.length, 'held call')} of this session`}
          onClose={() => setAsking(false)}
        >
          <ul className="deny-list">
            {requests.map((request) => (
              <li key={request.id} className="row">
                <TextLine text={titleOfCall(request)} className="strong" />
                <TextLine text={summarize(request.args)} className="mono small muted" />
              </li>
            ))}
          </ul>
          <TextField
            label="Reason (callers see it, and it is on record)"
            isFirst
            value={comment}
            onChange={setComment}
            onEnter={deny}
          />
          <div className="row">
            <Button kind="refuse" onPress={deny}>
              <Icon name="key" /> Deny {plural(requests.length, 'call')}
            </Button>
          </div>
        </Dialog>
      )}
    </>
  )
}
