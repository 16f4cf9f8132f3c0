// The verdict on a pending approval: by button or key, once or for a while, with changed arguments where
// the rule permits it, confirmed with a passkey. Says why if the signed-in user cannot decide.

import { type JSX, useState } from 'react'
import type {
  ApprovalRequest,
  ApprovalVerdict,
  CurrentPerson,
} from '../../../../packages/sluice/src/admin/contract/contract.ts'
import { titleOfCall } from '../../../../packages/sluice/src/core/call-title.ts'
import { pathTo } from '../../route.ts'
import { mayAct, sendWithProof, useMe } from '../../session.ts'
import { Button, Link } from '../../ui/button.tsx'
import { SelectField, TextField } from '../../ui/fields.tsx'
import { Icon } from '../../ui/icons.tsx'
import { isTyping, useKeys } from '../../ui/keys.ts'
import { Notice } from '../../ui/page.tsx'
import { UntrustedText } from '../../ui/text.tsx'
import { complain, showToast } from '../../ui/toasts.tsx'
import { summarize } from './groups.ts'
import { upsertRequest } from './inbox.ts'
import { DURATIONS, findFormFault, ONCE, StandingForm, toStandingTerms } from './standing-form.tsx'

export function Verdict({
  request,
  args,
  hasMasked,
  isFolded,
  onDecided,
}: {
  request: ApprovalRequest
  /** As shown: masked parts cannot be edited. */
  args: string
  hasMasked: boolean
  /** A part of them is not shown: then approving is disabled. */
  isFolded: boolean
  onDecided: () => void
}): JSX.Element {
  const me = useMe()
  const [comment, setComment] = useState('')
  const [standing, setStanding] = useState(ONCE)
  const [busy, setBusy] = useState(false)
  const [changed, setChanged] = useState<string>()
  const mayEdit = request.asks.every(({ editArgs }) => editArgs) && !hasMasked
  const may = mayAct(me, 'approver')
  const isOwn = isOwnCall(request, me)
  const cannotApprove = isFolded || isOwn
  const decide = async (verdict: 'approve' | 'deny') => {
    if (busy || (cannotApprove && verdict === 'approve')) return
    const fault = verdict === 'approve' ? findFormFault(standing) : undefined
    if (fault !== undefined) return showToast(fault, { kind: 'bad' })
    setBusy(true)
    try {
      const isYes = verdict === 'approve'
      const lasts = toStandingTerms(standing, args)
      const body: ApprovalVerdict = {
        verdict,
        comment,
        edits: request.edits,
        ...(isYes && lasts !== undefined ? { forAWhile: lasts } : {}),
        ...(isYes && changed !== undefined ? { args: changed } : {}),
      }
      const path = `/approvals/${encodeURIComponent(request.id)}/verdict`
      upsertRequest(await sendWithProof<ApprovalRequest>('POST', path, body))
      const says = `${isYes ? 'approved' : 'denied'} ${titleOfCall(request)}`
      const what = summarize(request.args)
      showToast(what === '' ? says : `${says}: ${what}`, { to: pathTo('approvals', request.id) })
      onDecided()
    } catch (error) {
      complain(error)
    } finally {
      setBusy(false)
    }
  }
  useKeys(({ key }, target) => {
    const verdict = ({ a: 'approve', d: 'deny' } as const)[key]
    if (verdict === undefined || !may || me?.mayProve === false || isTyping(target)) return false
    if (target.closest('[role="dialog"]') !== null) return false
    void decide(verdict)
    return true
  })
  if (!may || me?.mayProve === false)
    return (
      <footer className="stack verdict">
        {may ? (
          <Notice kind="warn">
            You need a passkey to decide, and have none for this address yet:{' '}
            <Link to="/settings">add one under Settings</Link>. The call waits meanwhile.
          </Notice>
        ) : (
          <Notice>
            You are signed in as {me?.roles.join(', ') ?? 'nobody'}: you can read this request, and
            an approver decides it.
          </Notice>
        )}
      </footer>
    )
  return (
    <>
      {(changed !== undefined || standing.forMs !== '') && (
        <div className="stack verdict-terms" ref={bringUp}>
          {changed !== undefined && (
            <TextField
              label="Arguments to send instead, as JSON; the changed call is decided again"
              mono
              rows={6}
              value={changed}
              onChange={setChanged}
            />
          )}
          {standing.forMs !== '' && (
            <StandingForm args={args} form={standing} onChange={setStanding} />
          )}
        </div>
      )}
      <footer className="stack verdict">
        {isOwn && (
          <Notice kind="warn">
            You own <UntrustedText text={request.principal.id} className="strong" />, which made
            this call, and its rule keeps duties separate: somebody else has to approve it. You can
            deny it.
          </Notice>
        )}
        <TextField
          label="Comment, on record with your verdict"
          quiet
          rows={1}
          value={comment}
          onChange={setComment}
          placeholder="Comment (optional, on record)"
        />
        <div className="row">
          <Button
            kind="approve"
            large
            isDisabled={busy || cannotApprove}
            onPress={() => decide('approve')}
          >
            <Icon name="allow" /> Approve <kbd>A</kbd>
          </Button>
          <Button kind="refuse" large isDisabled={busy} onPress={() => decide('deny')}>
            <Icon name="deny" /> Deny <kbd>D</kbd>
          </Button>
          {changed === undefined && !request.edited && (
            <SelectField
              label="Valid for"
              value={standing.forMs}
              onChange={(forMs) => setStanding({ ...standing, forMs })}
              choices={DURATIONS}
            />
          )}
          {mayEdit && standing.forMs === '' && (
            <Button
              kind="quiet"
              onPress={() => setChanged(changed === undefined ? indented(args) : undefined)}
            >
              {changed === undefined ? 'Change the arguments' : 'Leave them as they are'}
            </Button>
          )}
          <span className="muted small">
            {isFolded
              ? 'A part of what will be sent is folded: show all of it to approve.'
              : 'Your passkey confirms it.'}
          </span>
        </div>
      </footer>
    </>
  )
}

/** As the gate counts votes: it refuses this one, too. */
function isOwnCall({ asks, principal }: ApprovalRequest, me: CurrentPerson | undefined): boolean {
  if (me === undefined || !asks.some(({ separateDuties }) => separateDuties)) return false
  return me.name === principal.id || me.owns.includes(principal.id)
}

/** Scrolls to what opens below the visible part. */
function bringUp(element: HTMLElement | null): void {
  element?.scrollIntoView({ block: 'end' })
}

function indented(json: string): string {
  try {
    const value: unknown = JSON.parse(json)
    const text = JSON.stringify(value, null, 2)
    // Digits that no double represents must not be rounded for display.
    return JSON.stringify(value) === json ? text : json
  } catch {
    return json
  }
}
