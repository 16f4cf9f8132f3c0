// One call with everything recorded of it, in a drawer: the decision and its rule as in the
// document, guardrails, limits, decision inputs, outcome.

import { describeServerRequest, titleOfCall } from '@sluice/ledger/records/call-title'
import { attempt } from '@sluice/policy/structures/attempt'
import { type JSX, type ReactNode, useMemo } from 'react'
import type { CallAddress, CallExplanation } from '../../../../src/contract/contract.ts'
import { formatQuery } from '../../api.ts'
import { FreezeButton } from '../../freeze.tsx'
import { useResource } from '../../resource.ts'
import { pathTo, setQuery, useRoute } from '../../route.ts'
import { Link } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { LimitOwner } from '../../ui/limit-owner.tsx'
import { Category, OutcomeBadge } from '../../ui/marks.tsx'
import { Notice } from '../../ui/page.tsx'
import { Facts, Loaded, Part } from '../../ui/panel.tsx'
import { LongText, UntrustedText } from '../../ui/text.tsx'
import { bytes, formatPointer, millis, moment, nameRecord, span } from '../../ui/words.ts'
import { MakeRule } from '../policy/make-rule.tsx'
import { listNumbers, listTexts, type RuleSubject } from '../policy/rule-subject.ts'
import { ruleChoices } from './rule-choices.ts'
import './ledger.css'

/** The call whose drawer is open, in the address: it can be linked to, and Back closes it. */
export function useOpenCall(): {
  readonly call: CallAddress | undefined
  readonly open: (call: CallAddress) => void
  readonly drawer: ReactNode
} {
  const { query } = useRoute()
  const call = useMemo(() => {
    const callId = query.get('call')
    if (callId === null) return undefined
    const [atMs, seq] = [Number(query.get('callAt')), Number(query.get('callSeq') ?? Number.NaN)]
    const address = { callId, atMs, session: query.get('callSession') ?? '' }
    return Number.isNaN(seq) ? address : { ...address, seq }
  }, [query])
  return { call, open: openCall, drawer: call && <CallExplanationDrawer at={call} /> }
}

function openCall(call: CallAddress | undefined): void {
  const { callId, session, atMs, seq } = call ?? {}
  const text = (value: number | undefined) => (value === undefined ? '' : String(value))
  setQuery(
    { call: callId, callAt: text(atMs), callSession: session, callSeq: text(seq) },
    call === undefined ? 'replace' : 'push',
  )
}

function CallExplanationDrawer({
  at: { callId, session, atMs, seq },
}: {
  at: CallAddress
}): JSX.Element {
  const explanation = useResource<CallExplanation>(
    `/calls/${encodeURIComponent(callId)}${formatQuery({ session, atMs, seq })}`,
  )
  return (
    <Dialog title="Call explained" onClose={() => openCall(undefined)} side>
      <Loaded of={explanation}>{(call) => <WholeCall call={call} />}</Loaded>
    </Dialog>
  )
}

/** Lists are recorded as text: without the quotation marks of that text. */
function unquoteList(value: string): string {
  if (!/^"[[{]/.test(value)) return value
  return attempt(() => String(JSON.parse(value)), value)
}

/** What is no argument, in words. */
const JUDGED: Readonly<Record<string, string>> = {
  undeclared: 'has undeclared arguments',
  'principal.groups': 'groups of the caller',
  'principal.id': 'caller',
  'session.labels': 'labels of the session',
}

function ShadowRules({ list }: { list: CallExplanation['shadow'] }): JSX.Element {
  return (
    <Listed title="What shadow rules would have decided" list={list}>
      {({ rule, action, reason }) => (
        <li key={rule}>
          {action}: <UntrustedText text={reason} />{' '}
          <span className="mono small muted">{formatPointer(rule)}</span>
        </li>
      )}
    </Listed>
  )
}

function WholeCall({ call }: { call: CallExplanation }): JSX.Element {
  const purpose = describeServerRequest(call)
  const subject = useMemo(() => toSubject(call), [call])
  const request = /^APPROV(AL|ED)/.test(call.code) ? call.approval : undefined
  return (
    <div className="stack explained">
      <div className="row">
        <OutcomeBadge word={call.word} />
        <Category name={call.category} unknown={call.unknown} />
        <span className="tag">{call.code}</span>
      </div>
      <div className="explained-name">
        <UntrustedText text={titleOfCall(call)} className="strong" />
        {purpose !== undefined && <UntrustedText text={` ${purpose}`} className="muted" />}
      </div>
      {call.reason !== '' && (
        <p>
          <UntrustedText text={call.reason} />
        </p>
      )}
      {call.outcome?.labels.includes('injection') && (
        <Notice kind="warn">
          Its answer instructs the model, or was too large to look at. What the session did
          afterwards may not be what its user wanted:{' '}
          <Link to={`/ledger${formatQuery({ session: call.session, sinceMs: call.atMs })}`}>
            show the calls from here on
          </Link>
          .
        </Notice>
      )}
      {request !== undefined && (
        <p>
          <Link to={pathTo('approvals', request)}>Open the approval request</Link>
        </p>
      )}
      <MakeRule subject={subject} choices={ruleChoices(call)} />
      <Part title="The rule">
        <p className="mono small">
          <UntrustedText text={nameRule(call)} />
        </p>
        {call.ruleText !== null && (
          <>
            <pre className="code">
              <UntrustedText text={call.ruleText.text} />
            </pre>
            <p className="muted small">
              {call.ruleText.file}, line {call.ruleText.line}
            </p>
          </>
        )}
      </Part>
      <Listed title="Guardrails that matched" list={call.guardrails}>
        {({ name, action, undecided }) => (
          <li key={name}>
            <UntrustedText text={name} className="strong" /> {action && `says ${action}`}
            {undecided && ', which could not be decided and therefore counts'}
          </li>
        )}
      </Listed>
      <Listed title="Limits it took from" list={call.limits}>
        {({ key, amount, max, limit, whose, windowMs }) => (
          <li key={key} title={key}>
            <span className="num strong">{amount}</span> of {max}
            {windowMs > 0 && ` in ${span(windowMs / 1_000)}`}: <UntrustedText text={limit} />{' '}
            <LimitOwner whose={whose} />
          </li>
        )}
      </Listed>
      <ShadowRules list={call.shadow} />
      {call.judged.length > 0 && (
        <Part title="What it was judged by">
          <Facts
            className="facts mono small"
            of={Object.fromEntries(
              call.judged
                .filter(({ value }) => unquoteList(value) !== '[]')
                .map(({ path, value }) => [
                  JUDGED[path] ?? path.replace(/^args\./, ''),
                  <LongText key={path} text={unquoteList(value)} />,
                ]),
            )}
          />
        </Part>
      )}
      <Part title="On record">
        <Facts of={listRecorded(call)} />
      </Part>
    </div>
  )
}

/** A record has the name of the document that decided, and its digest. */
function toSubject(call: CallExplanation): RuleSubject {
  const { server, name, policy, judged } = call
  const args = judged
    .filter(({ path }) => path.startsWith('args.'))
    .map(({ path, value }) => [path.slice('args.'.length), value] as const)
  const texts = args.map(([name, json]) => [name, attempt(() => JSON.parse(json))] as const)
  return {
    server,
    name,
    policy: policy.split(' ')[0],
    numbers: listNumbers(args),
    texts: listTexts(texts),
    called: `record ${nameRecord(call)}`,
  }
}

/** Guardrails are called by their names. */
function nameRule({ rule, guardrails }: CallExplanation): string {
  const name = guardrails.find((one) => one.rule === rule)?.name
  if (name !== undefined) return `guardrail ${name}`
  return rule === '' ? 'none' : formatPointer(rule)
}

/** A part for each of the lists that is not empty. */
function Listed<Item>({
  title,
  list,
  children,
}: {
  title: string
  list: readonly Item[]
  children: (item: Item) => JSX.Element
}): JSX.Element | null {
  if (list.length === 0) return null
  return (
    <Part title={title}>
      <ul className="stack">{list.map(children)}</ul>
    </Part>
  )
}

function listRecorded(call: CallExplanation): Record<string, ReactNode> {
  const { atMs, principal, agent, session, sessionName = session, policy, outcome } = call
  const program = call.name === 'run_code' ? call.callId : call.parent
  return {
    When: <span className="num">{moment(atMs)}</span>,
    Who: (
      <span className="row">
        <Link to={`/ledger${formatQuery({ principal })}`}>
          <UntrustedText text={principal} />
        </Link>
        <FreezeButton target={{ scope: 'principal', id: principal }} />
      </span>
    ),
    Agent: agent !== null && (
      <span className="row">
        <Link to={pathTo('agents', agent)}>{agent}</Link>
        <FreezeButton target={{ scope: 'agent', id: agent }} />
      </span>
    ),
    Session: (
      <Link to={`/ledger${formatQuery({ session, view: 'timeline' })}`}>
        <UntrustedText text={sessionName} className="small" />
      </Link>
    ),
    Program: program !== undefined && (
      <Link to={`/ledger${formatQuery({ parent: program })}`}>All calls of the program</Link>
    ),
    Arguments:
      'not stored, except the values that it was judged by; texts only with ledger: { record: judged }',
    Record: `${nameRecord(call)}${outcome === null ? '' : `, outcome ${outcome.seq}`}`,
    Policy: <span title={policy}>{shortenDigest(policy)}</span>,
    ...(outcome !== null && listOutcome(outcome)),
  }
}

function listOutcome(outcome: NonNullable<CallExplanation['outcome']>): Record<string, ReactNode> {
  const { status, durationMs, bytes: size, errorCode, attempts, givenBack } = outcome
  const { changes, labels } = outcome
  const parts = [
    `${status} after ${millis(durationMs)}`,
    bytes(size),
    errorCode !== null && `error ${errorCode}`,
    attempts > 1 && `${attempts} attempts`,
    givenBack && 'limits given back',
  ]
  const made = changes.map(({ change, kind, count }) => `${change} ${count} × ${kind}`)
  return {
    Outcome: parts.filter(Boolean).join(', '),
    Answer: made.length > 0 && made.join(', '),
    Labels: labels.length > 0 && labels.join(', '),
  }
}

/** `policy AbC…`: the digest of the text is on hover. */
function shortenDigest(policy: string): string {
  const [name = '', digest = ''] = policy.split(' ')
  return digest.length > 10 ? `${name} ${digest.slice(0, 10)}…` : policy
}
