// One pending approval: what wants to run, who calls and why it requires approval, the arguments,
// what the session did before, who has voted; and the verdict, confirmed with a passkey.

import { type JSX, useState } from 'react'
import type {
  ApprovalRequest,
  RevealedArguments,
} from '../../../../packages/sluice/src/admin/contract/contract.ts'
import {
  describeServerRequest,
  titleOfCall,
} from '../../../../packages/sluice/src/core/call-title.ts'
import { pathTo } from '../../route.ts'
import { revealArguments } from '../../session.ts'
import { Button, Link } from '../../ui/button.tsx'
import { Icon } from '../../ui/icons.tsx'
import { Category, OutcomeBadge, Risk, toOutcomeLabel } from '../../ui/marks.tsx'
import { useNow } from '../../ui/now.ts'
import { Notice } from '../../ui/page.tsx'
import { TextLine, UntrustedText } from '../../ui/text.tsx'
import { complain } from '../../ui/toasts.tsx'
import { ago, clock, date, formatPointer, formatTimeLeft } from '../../ui/words.ts'
import { Arguments, hasLongValues } from './arguments.tsx'
import { Verdict } from './verdict.tsx'

export function Request({
  request,
  onDecided,
}: {
  request: ApprovalRequest
  onDecided: () => void
}): JSX.Element {
  const now = useNow()
  const purpose = describeServerRequest(request)
  const [revealed, setRevealed] = useState<RevealedArguments>()
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
              ? formatTimeLeft(request.expiresAtMs, now)
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
        <Called request={request} />
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
                    text={ask.reason === '' ? 'the policy requires approval' : ask.reason}
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

        {/* They are not kept once it is decided. */}
        {args !== '' && (
          <section aria-label="Arguments">
            <div className="row spread">
              <h3>
                {request.state === 'pending' ? 'What will be sent' : 'What was sent'}
                {request.edited && ' (changed by an approver)'}
              </h3>
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
        )}

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
        {request.why !== '' && !(request.state === 'denied' && request.votes.length > 0) && (
          <Notice>{request.why}</Notice>
        )}
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

/** What a command would do, and what its name may be mistaken for. */
function Called({ request: { command, looksLike } }: { request: ApprovalRequest }): JSX.Element {
  return (
    <>
      {command !== undefined && (
        <div>
          <pre className="mono">
            $ <UntrustedText text={command.line} />
          </pre>
          <p className="muted">
            in <UntrustedText text={command.directory} className="mono" />, touches:{' '}
            <UntrustedText text={command.touches} />
          </p>
        </div>
      )}
      {looksLike !== undefined && (
        <Notice kind="warn">
          The name looks like <UntrustedText text={looksLike} className="mono strong" />, and is
          not.
        </Notice>
      )}
    </>
  )
}
