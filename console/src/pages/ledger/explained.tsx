// One call with everything recorded of it, in a drawer: the decision and its rule as in the
// document, guardrails, limits, decision inputs, outcome.

import { type JSX, lazy, type ReactNode, Suspense, useMemo, useRef, useState } from 'react'
import type {
  CallAddress,
  CallExplanation,
} from '../../../../packages/sluice/src/admin/contract/contract.ts'
import {
  describeServerRequest,
  titleOfCall,
} from '../../../../packages/sluice/src/core/call-title.ts'
import { formatQuery } from '../../api.ts'
import { FreezeButton } from '../../freeze.tsx'
import { useResource } from '../../resource.ts'
import { pathTo, setQuery, useRoute } from '../../route.ts'
import { mayAct, useMe } from '../../session.ts'
import { Button, Link } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { LimitOwner } from '../../ui/limit-owner.tsx'
import { Category, OutcomeBadge } from '../../ui/marks.tsx'
import { ErrorNotice, Loading, Notice } from '../../ui/page.tsx'
import { LongText, UntrustedText } from '../../ui/text.tsx'
import { bytes, formatPointer, millis, moment, nameRecord, span } from '../../ui/words.ts'
import type { NewRuleAction } from '../policy/rule-from-call.tsx'
import { ruleChoices } from './rule-choices.ts'
import './explained.css'

/** The call whose drawer is open, in the address: it can be linked to, and Back closes it. */
export function useOpenCall(): {
  readonly call: CallAddress | undefined
  readonly open: (call: CallAddress | undefined) => void
} {
  const { query } = useRoute()
  const call = useMemo(() => {
    const callId = query.get('call')
    if (callId === null) return undefined
    const [atMs, seq] = [Number(query.get('callAt')), Number(query.get('callSeq') ?? Number.NaN)]
    const address = { callId, atMs, session: query.get('callSession') ?? '' }
    return Number.isNaN(seq) ? address : { ...address, seq }
  }, [query])
  return { call, open: openCall }
}

function openCall(call: CallAddress | undefined): void {
  const { callId, session, atMs, seq } = call ?? {}
  const text = (value: number | undefined) => (value === undefined ? '' : String(value))
  setQuery(
    { call: callId, callAt: text(atMs), callSession: session, callSeq: text(seq) },
    call === undefined ? 'replace' : 'push',
  )
}

export function CallExplanationDrawer({
  at: { callId, session, atMs, seq },
  onClose,
}: {
  at: CallAddress
  onClose: () => void
}): JSX.Element {
  const { value, error, reload } = useResource<CallExplanation>(
    `/calls/${encodeURIComponent(callId)}${formatQuery({ session, atMs, seq })}`,
  )
  return (
    <Dialog title="Call explained" onClose={onClose} side>
      {error !== undefined && <ErrorNotice error={error} again={reload} />}
      {value === undefined && error === undefined && <Loading />}
      {value !== undefined && <WholeCall call={value} />}
    </Dialog>
  )
}

/** Lists are recorded as text: without the quotation marks of that text. */
function unquoteList(value: string): string {
  if (!/^"[[{]/.test(value)) return value
  try {
    return String(JSON.parse(value))
  } catch {
    return value
  }
}

/** As the gate names a request to its caller. */
const REQUEST = /\brequest ([0-9a-f]{8,64})\b/

function WholeCall({ call }: { call: CallExplanation }): JSX.Element {
  const purpose = describeServerRequest(call)
  const request = call.code.startsWith('APPROVAL') ? REQUEST.exec(call.reason)?.[1] : undefined
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
      <MakeRule call={call} />
      <ExplanationPart title="The rule">
        <p className="mono small">
          <UntrustedText text={call.rule === '' ? 'none' : formatPointer(call.rule)} />
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
      </ExplanationPart>
      {call.guardrails.length > 0 && (
        <ExplanationPart title="Guardrails that matched">
          <ul className="stack">
            {call.guardrails.map(({ name, action, undecided }) => (
              <li key={name}>
                <UntrustedText text={name} className="strong" />{' '}
                {action !== null && `says ${action}`}
                {undecided && ', which could not be decided and therefore counts'}
              </li>
            ))}
          </ul>
        </ExplanationPart>
      )}
      {call.limits.length > 0 && (
        <ExplanationPart title="Limits it took from">
          <ul className="stack">
            {call.limits.map(({ key, amount, max, limit, whose, windowMs }) => (
              <li key={key} title={key}>
                <span className="num strong">{amount}</span> of {max}
                {windowMs > 0 && ` in ${span(windowMs / 1_000)}`}: <UntrustedText text={limit} />{' '}
                <LimitOwner whose={whose} />
              </li>
            ))}
          </ul>
        </ExplanationPart>
      )}
      {call.shadow.length > 0 && (
        <ExplanationPart title="What shadow rules would have decided">
          <ul className="stack">
            {call.shadow.map(({ rule, action, reason }) => (
              <li key={rule}>
                {action}: <UntrustedText text={reason} />{' '}
                <span className="mono small muted">{formatPointer(rule)}</span>
              </li>
            ))}
          </ul>
        </ExplanationPart>
      )}
      {call.judged.length > 0 && (
        <ExplanationPart title="What it was judged by">
          <dl className="facts">
            {call.judged.map(({ path, value }) => (
              <div key={path} className="contents">
                <dt className="mono small">
                  <UntrustedText text={path} />
                </dt>
                <dd className="mono small">
                  <LongText text={unquoteList(value)} />
                </dd>
              </div>
            ))}
          </dl>
        </ExplanationPart>
      )}
      <ExplanationPart title="On record">
        <dl className="facts">
          <dt>When</dt>
          <dd className="num">{moment(call.atMs)}</dd>
          <dt>Who</dt>
          <dd className="row">
            <Link to={`/ledger${formatQuery({ principal: call.principal })}`}>
              <UntrustedText text={call.principal} />
            </Link>
            <FreezeButton target={{ scope: 'principal', id: call.principal }} />
          </dd>
          {call.agent !== null && (
            <>
              <dt>Agent</dt>
              <dd className="row">
                <Link to={pathTo('agents', call.agent)}>{call.agent}</Link>
                <FreezeButton target={{ scope: 'agent', id: call.agent }} />
              </dd>
            </>
          )}
          <dt>Session</dt>
          <dd>
            <Link to={`/ledger${formatQuery({ session: call.session, view: 'timeline' })}`}>
              <UntrustedText text={call.sessionName ?? call.session} className="small" />
            </Link>
          </dd>
          <dt>Record</dt>
          <dd className="num">
            {nameRecord(call)}
            {call.outcome !== null && `, outcome ${call.outcome.seq}`}
          </dd>
          <dt>Policy</dt>
          <dd className="mono small">{call.policy}</dd>
          {call.outcome !== null && (
            <>
              <dt>Outcome</dt>
              <dd>
                {call.outcome.status} after {millis(call.outcome.durationMs)},{' '}
                {bytes(call.outcome.bytes)}
                {call.outcome.errorCode !== null && `, error ${call.outcome.errorCode}`}
                {call.outcome.attempts > 1 && `, ${call.outcome.attempts} attempts`}
                {call.outcome.givenBack && ', limits given back'}
              </dd>
              {call.outcome.changes.length > 0 && (
                <>
                  <dt>Answer</dt>
                  <dd>
                    {call.outcome.changes
                      .map(({ change, kind, count }) => `${change} ${count} × ${kind}`)
                      .join(', ')}
                  </dd>
                </>
              )}
              {call.outcome.labels.length > 0 && (
                <>
                  <dt>Labels</dt>
                  <dd>{call.outcome.labels.join(', ')}</dd>
                </>
              )}
            </>
          )}
        </dl>
      </ExplanationPart>
    </div>
  )
}

const RuleFromCall = lazy(async () => ({
  default: (await import('../policy/rule-from-call.tsx')).RuleFromCall,
}))

function MakeRule({ call }: { call: CallExplanation }): JSX.Element | null {
  const me = useMe()
  const [action, setAction] = useState<NewRuleAction>()
  const group = useRef<HTMLFieldSetElement>(null)
  // Several dialogs follow each other: the button that opened the last one is gone with the first.
  const close = () => {
    setAction(undefined)
    requestAnimationFrame(() => group.current?.querySelector('button')?.focus())
  }
  const choices = ruleChoices(call)
  if (choices === 'none' || !mayAct(me, 'policy-manager')) return null
  const tool = `${call.server}/${call.name}`
  return (
    <fieldset ref={group} className="row plain-group" aria-label="Make a rule for this tool">
      <span className="muted small">From now on:</span>
      {choices === 'all' && <Button onPress={() => setAction('allow')}>Always allow</Button>}
      <Button onPress={() => setAction('require_approval')}>Ask…</Button>
      <Button onPress={() => setAction('deny')}>Never</Button>
      {choices === 'guess' && (
        <span className="muted small">
          To allow it, first say what it does, under <code>classify</code> in the policy:{' '}
          <Link to={`/servers${formatQuery({ tool })}`}>what is known of it</Link>
        </span>
      )}
      {action !== undefined && (
        <Suspense>
          <RuleFromCall call={call} action={action} onClose={close} />
        </Suspense>
      )}
    </fieldset>
  )
}

function ExplanationPart({ title, children }: { title: string; children: ReactNode }): JSX.Element {
  return (
    <section className="explained-part">
      <h3>{title}</h3>
      {children}
    </section>
  )
}
