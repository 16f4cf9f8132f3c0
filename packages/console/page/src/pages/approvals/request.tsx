// One pending approval: what wants to run, who calls and why it requires approval, the arguments,
// what the session did before, who has voted; and the verdict, confirmed with a passkey.

import { describeServerRequest, titleOfCall } from '@sluice/ledger/records/call-title'
import { type JSX, useEffect, useMemo, useState } from 'react'
import type {
  ApprovalRequest,
  CallAddress,
  LedgerPage,
  LimitsView,
  RevealedArguments,
  RuleText,
} from '../../../../src/contract/contract.ts'
import { formatQuery } from '../../api.ts'
import { FreezeButton } from '../../freeze.tsx'
import { useResource } from '../../resource.ts'
import { pathTo } from '../../route.ts'
import { sendWithProof } from '../../session.ts'
import { Button, Link } from '../../ui/button.tsx'
import { CallList } from '../../ui/call-list.tsx'
import { Icon } from '../../ui/icons.tsx'
import { LimitOwner } from '../../ui/limit-owner.tsx'
import { Category, OutcomeBadge, Risk } from '../../ui/marks.tsx'
import { useNow } from '../../ui/now.ts'
import { Notice } from '../../ui/page.tsx'
import { Part } from '../../ui/panel.tsx'
import { GateText, UntrustedText } from '../../ui/text.tsx'
import { complain } from '../../ui/toasts.tsx'
import { ago, amount, clock, date, formatPointer, formatTimeLeft, span } from '../../ui/words.ts'
import { useOpenCall } from '../ledger/explained.tsx'
import { type RuleChoices, ruleChoices } from '../ledger/rule-choices.ts'
import { MakeRule } from '../policy/make-rule.tsx'
import { listNumbers, listTexts, type RuleSubject } from '../policy/rule-subject.ts'
import { Arguments, hasLongValues } from './arguments.tsx'
import { parseMembers } from './members.ts'
import { Verdict } from './verdict.tsx'
import { explainHeld } from './why-held.ts'

interface RequestProps {
  readonly request: ApprovalRequest
  readonly onDecided: () => void
}

export function Request({ request, onDecided }: RequestProps): JSX.Element {
  useScrolledUp()
  const now = useNow()
  const purpose = describeServerRequest(request)
  const subject = useMemo(() => toSubject(request), [request])
  const { open: openCall, drawer } = useOpenCall()
  const [revealed, setRevealed] = useState<RevealedArguments>()
  const [whole, setWhole] = useState(false)
  const { args, rest } = revealed ?? request
  const masked = revealed === undefined ? request.masked : undefined
  const isFolded = !whole && (hasLongValues(args) || hasLongValues(rest))
  const reveal = () => {
    const path = `/approvals/${encodeURIComponent(request.id)}/reveal`
    sendWithProof<RevealedArguments>('POST', path, {}).then(setRevealed, complain)
  }
  return (
    <article className="card request fade-in" aria-label={titleOfCall(request)}>
      <div className="stack request-head">
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
        <AskedBy request={request} />
        <RequestLinks request={request} onOpen={openCall} />
      </div>

      <div className="stack request-body">
        <WhyHeld request={request} />

        {args !== '' && (
          <SentArguments
            request={request}
            sent={{ args, rest, masked }}
            isFolded={isFolded}
            onReveal={reveal}
            onUnfold={() => setWhole(true)}
          />
        )}
        <DeletedArguments of={request} />

        {request.state === 'pending' && (
          <MakeRule subject={subject} choices={choicesFor(request)}>
            A request is void once its rule has changed: decide this call first.
          </MakeRule>
        )}

        <SessionBefore request={request} onOpen={openCall} />

        <Votes votes={request.votes} />
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
      {drawer}
    </article>
  )
}

const KEEPS_ARGUMENTS: readonly string[] = ['pending', 'approved', 'unknown']

/** Why some are not there, or all. */
function DeletedArguments({ of: { state } }: { of: ApprovalRequest }): JSX.Element | null {
  if (KEEPS_ARGUMENTS.includes(state)) return null
  return (
    <p className="muted">
      Arguments are deleted once a request is decided. Those that a rule reads are on record, texts
      among them only with <code>{'ledger: { record: judged }'}</code>.
    </p>
  )
}

function AskedBy({ request }: Pick<RequestProps, 'request'>): JSX.Element {
  return (
    <p className="muted">
      asked by{' '}
      <Link to={`/ledger${formatQuery({ principal: request.principal.id })}`}>
        <UntrustedText text={request.principal.id} className="strong" />
      </Link>{' '}
      ({request.principal.kind})
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
  )
}

/** What is left of the limits of this tool, that count for its caller or for everyone. */
function LimitsLeft({ request }: Pick<RequestProps, 'request'>): JSX.Element {
  const { server, name, principal } = request
  const limits = useResource<LimitsView>('/limits').value?.limits ?? []
  const own = limits.filter(
    ({ limit, whose }) =>
      limit === `${server}/${name}` && (whose === '' || whose.includes(principal.id)),
  )
  return (
    <>
      {own.map(({ whose, used, max, windowMs }) => (
        <li key={`${whose} ${windowMs} ${max}`} className="muted small">
          {amount(Math.max(0, Number(max) - Number(used)))} of {amount(Number(max))} left in{' '}
          {span(windowMs / 1_000)} <LimitOwner whose={whose} />
        </li>
      ))}
    </>
  )
}

/** The values that decided, and the rule as it is written. */
function HeldBy({
  ask: { rule, says, reason },
  args,
}: {
  readonly ask: ApprovalRequest['asks'][number]
  readonly args: string
}): JSX.Element {
  const { values, condition, holds } = explainHeld(says, args)
  const path = `/policy/rule${formatQuery({ rule })}`
  const [written, other] = useResource<{ rules: RuleText[] }>(path).value?.rules ?? []
  return (
    <>
      {values.length > 0 && <div className="strong">{values.join('; ')}</div>}
      {reason !== '' && (
        <div className="gate-reason">
          <GateText text={reason} />
        </div>
      )}
      {values.length === 0 && condition !== undefined && (
        <div>
          Its condition{reason === '' && (holds ? ' holds' : ' does not hold')}:{' '}
          <UntrustedText text={condition} className="mono" />
        </div>
      )}
      {values.length === 0 && condition === undefined && reason === '' && (
        <div>Every call under this rule is asked for.</div>
      )}
      {written !== undefined && other === undefined && (
        <div className="muted small">
          {written.file.split('/').at(-1)}, line {written.line}:{' '}
          <UntrustedText text={written.text.trim()} className="mono" />
        </div>
      )}
    </>
  )
}

/** On a phone a request takes the place of a list that was scrolled. */
function useScrolledUp(): void {
  useEffect(() => {
    document.querySelector('.split')?.scrollTo(0, 0)
  }, [])
}

function WhyHeld({ request }: Pick<RequestProps, 'request'>): JSX.Element {
  return (
    <Part title="Why it was held">
      <ul className="stack">
        {request.asks.map((ask) => (
          <li key={ask.rule} className="ask-row">
            <Icon name="ask" />
            <div>
              <HeldBy ask={ask} args={request.args} />
              <div className="muted small">
                rule{' '}
                <Link to={`/policy${formatQuery({ tool: `${request.server}/${request.name}` })}`}>
                  <UntrustedText text={nameRule(ask)} className="mono" />
                </Link>
                {' · '}
                {describeVotes(request, ask)}
                {ask.approvers.length > 0 && ` · by ${ask.approvers.join(', ')}`}
                {ask.separateDuties && ' · not by the caller'}
              </div>
            </div>
          </li>
        ))}
        <LimitsLeft request={request} />
      </ul>
    </Part>
  )
}

/** How many have approved, and what came of it: a request may end otherwise. */
function describeVotes(
  { state, votes }: ApprovalRequest,
  { approvedBy, quorum }: ApprovalRequest['asks'][number],
): string {
  const approved = `${approvedBy.length} of ${quorum}`
  if (!['denied', 'expired', 'void'].includes(state)) return `${approved} approved`
  const by = votes.findLast(({ verdict }) => verdict === 'deny')?.by
  return `${state}${by === undefined ? '' : ` by ${by}`}; ${approved} had approved`
}

interface SentArgumentsProps {
  readonly request: ApprovalRequest
  readonly sent: RevealedArguments & { readonly masked: ApprovalRequest['masked'] | undefined }
  readonly isFolded: boolean
  readonly onReveal: () => void
  readonly onUnfold: () => void
}

const NOT_SENT = 'What was asked for, and not sent'
const SENT_TITLES: Readonly<Record<ApprovalRequest['state'], string>> = {
  pending: 'What will be sent',
  approved: 'What is sent when the agent asks again',
  executed: 'What was sent',
  unknown: 'What was sent',
  denied: NOT_SENT,
  expired: NOT_SENT,
  void: NOT_SENT,
}

function SentArguments({
  request,
  sent: { args, rest, masked },
  isFolded,
  onReveal,
  onUnfold,
}: SentArgumentsProps): JSX.Element {
  return (
    <section className="stack" aria-label="Arguments">
      <div className="row spread">
        <h3>
          {SENT_TITLES[request.state]}
          {request.edited && ' (changed by an approver)'}
        </h3>
        {request.state === 'pending' && (masked?.count ?? 0) > 0 && (
          <Button kind="quiet" onPress={onReveal}>
            Reveal what is masked
          </Button>
        )}
      </div>
      <Arguments json={args} whole={!isFolded} />
      {rest !== '' && (
        <>
          <h4>Sent beside the arguments</h4>
          <Arguments json={rest} whole={!isFolded} />
        </>
      )}
      {request.program !== undefined && (
        <>
          <h4>The program that makes this call</h4>
          <div className="code">
            <UntrustedText text={request.program} />
          </div>
        </>
      )}
      {isFolded && (
        <Button kind="quiet" onPress={onUnfold}>
          Show all {(args.length + rest.length).toLocaleString('en')} characters
        </Button>
      )}
      {masked !== undefined && masked.count > 0 && <MaskedNotice masked={masked} />}
    </section>
  )
}

function Votes({ votes }: Pick<ApprovalRequest, 'votes'>): JSX.Element | null {
  if (votes.length === 0) return null
  return (
    <Part title="Votes">
      <ul className="stack">
        {votes.map((vote) => (
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
    </Part>
  )
}

interface RequestLinksProps {
  readonly request: ApprovalRequest
  readonly onOpen: (call: CallAddress) => void
}

/** To everything that it names, and what can be done about its caller. */
function RequestLinks({ request, onOpen }: RequestLinksProps): JSX.Element {
  const tool = `${request.server}/${request.name}`
  return (
    <div className="row small">
      <span className="muted">session</span>
      <Link to={`/ledger${formatQuery({ session: request.session, view: 'timeline' })}`}>
        <UntrustedText text={request.sessionName ?? request.session} />
      </Link>
      <FreezeButton target={{ scope: 'principal', id: request.principal.id }} />
      {request.agent !== null && <FreezeButton target={{ scope: 'agent', id: request.agent }} />}
      <Link to={`/policy${formatQuery({ tool })}`}>Change its rule</Link>
      <Link to={`/ledger${formatQuery({ server: request.server, name: request.name })}`}>
        Its calls
      </Link>
      {request.state !== 'pending' && (
        <Button kind="quiet" onPress={() => onOpen(request)}>
          Record
        </Button>
      )}
    </div>
  )
}

/** Earlier calls of the session, each of which opens; those that brought a label first. */
function SessionBefore({
  request: { session, atMs },
  onOpen,
}: {
  request: ApprovalRequest
  onOpen: (call: CallAddress) => void
}): JSX.Element | null {
  const path = `/ledger${formatQuery({ session, untilMs: atMs, limit: BEFORE_SHOWN })}`
  const calls = useResource<LedgerPage>(path).value?.calls ?? []
  const labelled = calls.filter(({ labels }) => labels.length > 0)
  if (calls.length === 0) return null
  return (
    <Part title="What this session did before">
      {labelled.map((one) => (
        <Notice key={one.seq} kind="warn">
          The answer of <UntrustedText text={titleOfCall(one)} className="strong" /> at{' '}
          {clock(one.atMs)} brought {one.labels.join(', ')} into the session.{' '}
          <Button kind="quiet" onPress={() => onOpen(one)}>
            Open that call
          </Button>
        </Notice>
      ))}
      <CallList calls={calls} onOpen={onOpen} />
    </Part>
  )
}

const BEFORE_SHOWN = 8

/** Its policy is the only one, or has to be chosen. */
function toSubject({ server, name, id, args }: ApprovalRequest): RuleSubject {
  const members = parseMembers(args) ?? []
  const numbers = members.filter(([, value]) => typeof value !== 'string')
  return {
    server,
    name,
    policy: undefined,
    numbers: listNumbers(numbers.map(([argument, value]) => [argument, String(value)])),
    texts: listTexts(members),
    called: `request ${id.slice(0, 8)}`,
  }
}

function choicesFor({ method, asks, unknown = false }: ApprovalRequest): RuleChoices {
  return ruleChoices({ method, rule: asks[0]?.rule ?? '', word: 'ask', unknown })
}

/** A guardrail is called by its name, which its text begins with; any other rule by its place. */
function nameRule({ rule, says }: ApprovalRequest['asks'][number]): string {
  if (!/\/guardrails\/\d+$/.test(rule)) return formatPointer(rule)
  return `guardrail ${JSON.parse(says)[0]}`
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
          <UntrustedText text={formatPointer(path.replace(/^\/arguments/, ''))} className="mono" />{' '}
          (characters {from + 1} to {from + many}){' '}
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
