// The verdict on a pending approval: by button or key, once or for a while, with changed arguments where
// the rule permits it, confirmed with a passkey. Says why if the signed-in user cannot decide.

import { titleOfCall } from '@sluice/ledger/records/call-title'
import { attempt } from '@sluice/policy/structures/attempt'
import { type JSX, useState } from 'react'
import type {
  ApprovalRequest,
  ApprovalVerdict,
  CurrentPerson,
  LinesView,
} from '../../../../src/contract/contract.ts'
import { useResource } from '../../resource.ts'
import { pathTo } from '../../route.ts'
import { mayAct, sendWithProof, useMe } from '../../session.ts'
import { Button, Link } from '../../ui/button.tsx'
import { SelectField, TextField } from '../../ui/fields.tsx'
import { Icon } from '../../ui/icons.tsx'
import { isTyping, useKeys } from '../../ui/keys.ts'
import { Notice } from '../../ui/page.tsx'
import { UntrustedText } from '../../ui/text.tsx'
import { complain, showToast } from '../../ui/toasts.tsx'
import { ago } from '../../ui/words.ts'
import { summarize } from './groups.ts'
import { noteVerdict } from './inbox.ts'
import {
  beginForm,
  DURATIONS,
  StandingForm,
  type StandingFormState,
  suggestionPath,
  toStandingTerms,
} from './standing-form.tsx'

interface VerdictProps {
  readonly request: ApprovalRequest
  /** As shown: masked parts cannot be edited. */
  readonly args: string
  readonly hasMasked: boolean
  /** A part of them is not shown: then approving is disabled. */
  readonly isFolded: boolean
  readonly onDecided: () => void
}

export function Verdict(props: VerdictProps): JSX.Element {
  const { request, args, hasMasked, isFolded, onDecided } = props
  const me = useMe()
  const [comment, setComment] = useState('')
  const { standing, setStanding, isReady } = useStandingForm(request)
  const [busy, setBusy] = useState(false)
  const [changed, setChanged] = useState<string>()
  const mayEdit = request.asks.every(({ editArgs }) => editArgs) && !hasMasked
  const may = mayAct(me, 'approver')
  const isOwn = isOwnCall(request, me)
  const cannotApprove = isFolded || isOwn
  const decide = async (verdict: 'approve' | 'deny') => {
    if (busy || (cannotApprove && verdict === 'approve')) return
    setBusy(true)
    try {
      const isLasting = verdict === 'approve' && standing.forMs !== ''
      const lasts = isLasting ? await toStandingTerms(request, standing, args) : undefined
      const terms = {
        ...(lasts !== undefined && { forAWhile: lasts }),
        ...(changed !== undefined && { args: changed }),
      }
      await sendVerdict(request, { verdict, comment, ...(verdict === 'approve' && terms) })
      onDecided()
    } catch (error) {
      complain(error)
    } finally {
      setBusy(false)
    }
  }
  useVerdictKeys(may && me?.mayProve !== false, (verdict) => void decide(verdict))
  if (!may || me?.mayProve === false) return <CannotDecide me={me} may={may} />
  return (
    <>
      {changed !== undefined && (
        <div className="stack verdict-terms" ref={bringUp}>
          <TextField
            label="Arguments to send instead, as JSON; the changed call is decided again"
            mono
            rows={6}
            value={changed}
            onChange={setChanged}
          />
        </div>
      )}
      {standing.forMs !== '' && (
        <div className="stack verdict-terms" ref={bringUp}>
          <StandingForm request={request} args={args} form={standing} onChange={setStanding} />
        </div>
      )}
      <footer className="stack verdict">
        {isOwn && <OwnCall principal={request.principal.id} />}
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
          {changed === undefined && !request.edited && isReady && (
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

/** Before the gate has suggested a line nothing else can be chosen: the form must not change after it was seen. */
function useStandingForm(request: ApprovalRequest) {
  const [chosen, setStanding] = useState<StandingFormState>()
  const path = suggestionPath(request)
  const { value, error } = useResource<LinesView>(path)
  const isReady = path === undefined || value !== undefined || error !== undefined
  return { standing: chosen ?? beginForm(request, value?.suggested ?? null), setStanding, isReady }
}

function useVerdictKeys(isOn: boolean, decide: (verdict: 'approve' | 'deny') => void): void {
  useKeys(({ key }, target) => {
    const verdict = ({ a: 'approve', d: 'deny' } as const)[key]
    if (verdict === undefined || !isOn || isTyping(target)) return false
    if (target.closest('[role="dialog"]') !== null) return false
    decide(verdict)
    return true
  })
}

function OwnCall({ principal }: { principal: string }): JSX.Element {
  return (
    <Notice kind="warn">
      You own <UntrustedText text={principal} className="strong" />, which made this call, and its
      rule keeps duties separate: somebody else has to approve it. You can deny it.
    </Notice>
  )
}

async function sendVerdict(
  request: ApprovalRequest,
  given: Omit<ApprovalVerdict, 'edits'>,
): Promise<void> {
  const body: ApprovalVerdict = { ...given, edits: request.edits }
  const path = `/approvals/${encodeURIComponent(request.id)}/verdict`
  const answer = await sendWithProof<ApprovalRequest>('POST', path, body)
  const { state } = noteVerdict(answer, body.verdict)
  if (state === 'denied' && body.verdict === 'approve') return
  const done = `${body.verdict === 'approve' ? 'approved' : 'denied'} ${titleOfCall(request)}`
  const before = answer.votes.slice(0, -1).findLast((vote) => vote.verdict !== body.verdict)
  const says = before === undefined ? done : `${done}; ${describeVote(before)}`
  const what = summarize(request.args)
  showToast(what === '' ? says : `${says}: ${what}`, {
    kind: body.verdict === 'approve' ? 'good' : 'plain',
    to: pathTo('approvals', request.id),
  })
}

/** Another person was faster, and said the opposite. */
function describeVote({ by, verdict, atMs }: ApprovalRequest['votes'][number]): string {
  return `${by} had ${verdict === 'approve' ? 'approved' : 'denied'} it ${ago(atMs, Date.now())}`
}

interface CannotDecideProps {
  readonly me: CurrentPerson | undefined
  readonly may: boolean
}

function CannotDecide({ me, may }: CannotDecideProps): JSX.Element {
  return (
    <footer className="stack verdict">
      {may ? (
        <Notice kind="warn">
          You need a passkey to decide, and have none for this address yet:{' '}
          <Link to="/settings">add one under Settings</Link>. The call waits meanwhile.
        </Notice>
      ) : (
        <Notice>
          You are signed in as {me?.roles.join(', ') ?? 'nobody'}: you can read this request, and an
          approver decides it.
        </Notice>
      )}
    </footer>
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
  const value: unknown = attempt(() => JSON.parse(json))
  // Digits that no double represents must not be rounded for display.
  return JSON.stringify(value) === json ? JSON.stringify(value, null, 2) : json
}
