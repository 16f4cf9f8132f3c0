// One pending approval: what wants to run, who calls and why it requires approval, the arguments,
// what the session did before, who has voted; and the verdict, confirmed with a passkey.

import { type JSX, useEffect, useRef, useState } from 'react'
import type {
  ApprovalRequest,
  Revealed,
} from '../../../../packages/sluice/src/admin/contract/contract.ts'
import {
  describeServerRequest,
  titleOfCall,
} from '../../../../packages/sluice/src/core/call-title.ts'
import { pathTo } from '../../route.ts'
import { decideRequest, revealArguments, useMe } from '../../session.ts'
import { Button, Link } from '../../ui/button.tsx'
import { SelectField, TextArea } from '../../ui/fields.tsx'
import { Icon } from '../../ui/icons.tsx'
import { Category, OutcomeBadge, Risk, toOutcomeLabel } from '../../ui/marks.tsx'
import { useNow } from '../../ui/now.ts'
import { Notice } from '../../ui/page.tsx'
import { TextLine, UntrustedText } from '../../ui/text.tsx'
import { complain, showToast } from '../../ui/toasts.tsx'
import { ago, clock, date, left } from '../../ui/words.ts'
import { Arguments, hasLongValues } from './arguments.tsx'
import { upsertRequest } from './inbox.ts'
import { findFormFault, ONCE, StandingForm, toStandingTerms, WHILES } from './while.tsx'

export function Request({
  request,
  onDecided,
}: {
  request: ApprovalRequest
  onDecided: () => void
}): JSX.Element {
  const now = useNow()
  const purpose = describeServerRequest(request)
  const [revealed, setRevealed] = useState<Revealed>()
  const [whole, setWhole] = useState(false)
  const { args, rest } = revealed ?? request
  const masked = revealed === undefined ? request.masked : undefined
  const isFolded = !whole && (hasLongValues(args) || hasLongValues(rest))
  const reveal = () => revealArguments(request.id).then(setRevealed, complain)
  return (
    <article className="card request fade-in" aria-label={titleOfCall(request)}>
      <div className="request-head">
        <div className="row">
          <StateMark request={request} />
          <Category name={request.category} unknown={request.unknown} />
          <Risk level={request.risk} unknown={request.unknown} />
          <span className="muted small num">
            {request.state === 'pending'
              ? left(request.expiresAtMs, now)
              : `asked ${ago(request.atMs, now)}`}
          </span>
        </div>
        <h2 className="request-name">
          <UntrustedText text={titleOfCall(request)} />
        </h2>
        {purpose !== undefined && (
          <p>
            <UntrustedText text={purpose} />
          </p>
        )}
        {request.looksLike !== undefined && (
          <Notice kind="warn">
            The name looks like <UntrustedText text={request.looksLike} className="mono strong" />,
            and is not.
          </Notice>
        )}
        <p className="muted">
          asked by <UntrustedText text={request.principal.id} className="strong" /> (
          {request.principal.kind})
          {request.agent !== null && (
            <>
              {' '}
              through agent{' '}
              <Link to={pathTo('agents', request.agent)}>
                <span className="mono">{request.agent.slice(0, 18)}</span>
              </Link>
            </>
          )}{' '}
          at {clock(request.atMs)}
        </p>
        {request.sessionName !== undefined && (
          <p className="muted small">
            session: <UntrustedText text={request.sessionName} />
          </p>
        )}
      </div>

      <div className="request-body">
        <section aria-label="Why it was held">
          <h3>Why it was held</h3>
          <ul className="stack">
            {request.asks.map((ask) => (
              <li key={ask.rule} className="ask-row">
                <Icon name="ask" />
                <div>
                  <UntrustedText
                    text={ask.reason === '' ? 'the policy asks for a person' : ask.reason}
                  />
                  <div className="muted small">
                    rule <span className="mono">{formatPointer(ask.rule)}</span>
                    {' · '}
                    {ask.approvedBy.length} of {ask.quorum} approved
                    {ask.approvers.length > 0 && ` · by ${ask.approvers.join(', ')}`}
                    {ask.separateDuties && ' · not by the caller'}
                  </div>
                </div>
              </li>
            ))}
          </ul>
        </section>

        <section aria-label="Arguments">
          <div className="row spread">
            <h3>What will be sent{request.edited && ' (changed by an approver)'}</h3>
            {request.state === 'pending' && (masked?.count ?? 0) > 0 && (
              <Button kind="quiet" onPress={reveal}>
                Reveal what is masked
              </Button>
            )}
          </div>
          <Arguments json={args} whole={whole} />
          {rest !== '' && (
            <>
              <h4>Sent beside the arguments</h4>
              <Arguments json={rest} whole={whole} />
            </>
          )}
          {isFolded && (
            <Button kind="quiet" onPress={() => setWhole(true)}>
              Show all {(args.length + rest.length).toLocaleString('en')} characters
            </Button>
          )}
          {masked !== undefined && masked.count > 0 && <MaskedNotice masked={masked} />}
        </section>

        {request.before.length > 0 && (
          <section aria-label="What this session did before">
            <h3>What this session did before</h3>
            <ol className="before">
              {request.before.map((step) => (
                <li key={`${step.atMs}${step.server}${step.name}`} className="row">
                  <span className="muted num small">{clock(step.atMs)}</span>
                  <OutcomeBadge word={toOutcomeLabel(step.action)} bare />
                  <TextLine text={`${step.server}/${step.name}`} className="mono" />
                </li>
              ))}
            </ol>
          </section>
        )}

        {request.votes.length > 0 && (
          <section aria-label="Votes">
            <h3>Votes</h3>
            <ul className="stack">
              {request.votes.map((vote) => (
                <li key={`${vote.by}${vote.atMs}`} className="row">
                  <OutcomeBadge
                    word={vote.verdict === 'approve' ? 'allow' : 'deny'}
                    says={vote.verdict === 'approve' ? 'Approved' : 'Denied'}
                  />
                  <span className="strong">{vote.by}</span>
                  <span className="muted small">
                    {date(vote.atMs)}, {vote.channel}, {vote.proof}
                  </span>
                  {vote.gone === true && (
                    <span className="tag critical">may no longer decide: counts for nothing</span>
                  )}
                  {vote.comment !== '' && <UntrustedText text={`“${vote.comment}”`} />}
                </li>
              ))}
            </ul>
          </section>
        )}
        {request.why !== '' && <Notice>{request.why}</Notice>}
      </div>
      {request.state === 'pending' && (
        <Verdict
          request={request}
          args={args}
          hasMasked={(masked?.count ?? 0) > 0}
          isFolded={isFolded}
          onDecided={onDecided}
        />
      )}
    </article>
  )
}

const STATES = {
  pending: ['ask', 'Pending'],
  approved: ['allow', 'Approved'],
  executed: ['allow', 'Executed'],
  denied: ['deny', 'Denied'],
  expired: ['hide', 'Expired'],
  void: ['hide', 'Void'],
  unknown: ['limited', 'Unknown outcome'],
} as const

export function StateMark({ request }: { request: ApprovalRequest }): JSX.Element {
  const [word, says] = STATES[request.state]
  return <OutcomeBadge word={word} says={says} />
}

/**
 * What is not shown, and where: the caller wrote the arguments, and thus what looks like a secret.
 */
function MaskedNotice({ masked }: { masked: ApprovalRequest['masked'] }): JSX.Element {
  const { parts, count, characters } = masked
  return (
    <Notice kind="warn">
      {characters.toLocaleString('en')} characters are masked:{' '}
      {parts.slice(0, MASKED_NAMED_MAX).map(({ path, from, characters: many }) => (
        <span key={`${path} ${from}`}>
          <UntrustedText text={path} className="mono" /> ({many} from character {from + 1} on){' '}
        </span>
      ))}
      {count > MASKED_NAMED_MAX && `and ${count - MASKED_NAMED_MAX} more places`}
    </Notice>
  )
}

const MASKED_NAMED_MAX = 5

function Verdict({
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
  const [wish, setWish] = useState(ONCE)
  const [busy, setBusy] = useState(false)
  const [changed, setChanged] = useState<string>()
  const mayEdit = request.asks.every(({ editArgs }) => editArgs) && !hasMasked
  const may = me?.roles.includes('approver') === true || me?.roles.includes('admin') === true
  const decide = async (verdict: 'approve' | 'deny') => {
    if (busy || (isFolded && verdict === 'approve')) return
    const fault = verdict === 'approve' ? findFormFault(wish) : undefined
    if (fault !== undefined) return showToast(fault, 'bad')
    setBusy(true)
    try {
      const isYes = verdict === 'approve'
      const lasts = toStandingTerms(wish, args)
      const asked = {
        verdict,
        comment,
        ...(isYes && lasts !== undefined ? { forAWhile: lasts } : {}),
        ...(isYes && changed !== undefined ? { args: changed } : {}),
      }
      upsertRequest(await decideRequest(request, asked))
      showToast(
        verdict === 'approve'
          ? `approved ${titleOfCall(request)}`
          : `denied ${titleOfCall(request)}`,
      )
      onDecided()
    } catch (error) {
      complain(error)
    } finally {
      setBusy(false)
    }
  }
  const latest = useRef(decide)
  latest.current = decide
  useEffect(() => {
    if (!may || me?.mayProve === false) return
    const press = (event: KeyboardEvent) => {
      const target = event.target as HTMLElement
      if (event.metaKey || event.ctrlKey || event.altKey) return
      if (target.closest('input, textarea, select, [role="dialog"]') !== null) return
      if (event.key === 'a') void latest.current('approve')
      else if (event.key === 'd') void latest.current('deny')
      else return
      event.preventDefault()
    }
    window.addEventListener('keydown', press)
    return () => window.removeEventListener('keydown', press)
  }, [may, me?.mayProve])
  if (!may)
    return (
      <footer className="verdict">
        <Notice>
          You are signed in as {me?.roles.join(', ') ?? 'nobody'}: looking is yours, deciding is an
          approver’s.
        </Notice>
      </footer>
    )
  if (me?.mayProve === false)
    return (
      <footer className="verdict">
        <Notice kind="warn">
          Deciding takes a passkey, and you have none for this address yet:{' '}
          <Link to="/settings">add one under Settings</Link>. The call waits meanwhile.
        </Notice>
      </footer>
    )
  return (
    <>
      {(changed !== undefined || wish.forMs !== '') && (
        <div className="verdict-terms" ref={bringUp}>
          {changed !== undefined && (
            <TextArea
              label="Arguments to send instead, as JSON; the changed call is decided again"
              mono
              rows={6}
              value={changed}
              onChange={setChanged}
            />
          )}
          {wish.forMs !== '' && <StandingForm args={args} wish={wish} onChange={setWish} />}
        </div>
      )}
      <footer className="verdict">
        <TextArea
          label="Comment, on record with your verdict"
          quiet
          rows={1}
          value={comment}
          onChange={setComment}
          placeholder="Comment (optional, on record)"
        />
        <div className="verdict-row">
          <Button
            kind="approve"
            large
            isDisabled={busy || isFolded}
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
              value={wish.forMs}
              onChange={(forMs) => setWish({ ...wish, forMs })}
              choices={WHILES}
            />
          )}
          {mayEdit && wish.forMs === '' && (
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

/** Scrolls to what opens below the visible part. */
function bringUp(element: HTMLElement | null): void {
  element?.scrollIntoView({ block: 'end' })
}

/** A rule's location in its document, for people. */
function formatPointer(pointer: string): string {
  const parts = pointer.split('/').slice(1)
  return parts.map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~')).join(' › ')
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
