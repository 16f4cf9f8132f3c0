// One alert: what, since when, the facts; the calls that it is about, the words that were found, what the session
// did afterwards; and what one does about it, in order.

import type { JSX } from 'react'
import type {
  AlertsView,
  CallRecord,
  LedgerPage,
  SentAlertView,
} from '../../../../packages/sluice/src/admin/contract/contract.ts'
import { titleOfCall } from '../../../../packages/sluice/src/core/call-title.ts'
import { formatQuery } from '../../api.ts'
import { FreezeButton } from '../../freeze.tsx'
import { useOpenTitle } from '../../page-title.ts'
import { useResource } from '../../resource.ts'
import { useRoute } from '../../route.ts'
import { mayAct, useMe } from '../../session.ts'
import { AlertState } from '../../ui/alert-list.tsx'
import { Link } from '../../ui/button.tsx'
import { OutcomeBadge } from '../../ui/marks.tsx'
import { Empty, Loading, Notice, PageHead } from '../../ui/page.tsx'
import { TextLine, UntrustedText } from '../../ui/text.tsx'
import { clock, date } from '../../ui/words.ts'
import { DenyAll } from '../approvals/deny-all.tsx'
import { listPending, useInbox } from '../approvals/inbox.ts'
import { CallExplanationDrawer, useOpenCall } from '../ledger/explained.tsx'
import './overview.css'

const SHOWN = 12

export function AlertPage(): JSX.Element {
  const { rest } = useRoute()
  const { value } = useResource<AlertsView>('/alerts', 10_000)
  const alert = value?.sent.find(({ id }) => id === rest[0])
  useOpenTitle(alert?.title)
  return (
    <div className="page">
      <PageHead title={alert?.title ?? 'Alert'}>
        {alert !== undefined && <AlertState {...alert} />}
      </PageHead>
      <div className="page-body stack">
        {value === undefined && <Loading />}
        {value !== undefined && alert === undefined && (
          <Empty icon="warn" title="This alert is not here">
            It may be older than what is kept. <Link to="/settings?section=alerts">All alerts</Link>
          </Empty>
        )}
        {alert !== undefined && <WholeAlert alert={alert} />}
      </div>
    </div>
  )
}

function WholeAlert({ alert }: { alert: SentAlertView }): JSX.Element {
  const { atMs, facts, found, page, undelivered } = alert
  const isOfCalls = page.startsWith('/ledger?')
  const about = useResource<LedgerPage>(isOfCalls ? `${page}&limit=1` : undefined).value?.calls[0]
  return (
    <>
      <section className="card card-body stack" aria-label="What happened">
        <dl className="facts">
          <dt>Since</dt>
          <dd className="num">{date(atMs)}</dd>
          {facts.map(({ name, value }) => (
            <div key={name} className="contents">
              <dt>{name}</dt>
              <dd>
                <UntrustedText text={value} />
              </dd>
            </div>
          ))}
        </dl>
        {found !== '' && (
          <Notice kind="bad">
            <span className="strong">Words of the answer:</span>{' '}
            <UntrustedText text={`“${found}”`} className="mono" />
          </Notice>
        )}
        {undelivered.length > 0 && (
          <Notice kind="warn">It was not delivered by {undelivered.join(', ')}.</Notice>
        )}
        <div className="row">
          {about !== undefined && <Actions call={about} />}
          <Link to={page}>
            {isOfCalls ? 'All calls in the ledger' : 'Go to where it can be solved'}
          </Link>
        </div>
      </section>
      {about !== undefined && <Afterwards call={about} />}
    </>
  )
}

/** In the order in which one does them: stop the caller, deny what waits. */
function Actions({ call: { principal, session } }: { call: CallRecord }): JSX.Element {
  const me = useMe()
  const held = listPending(useInbox()).filter((one) => one.session === session)
  return (
    <>
      <FreezeButton target={{ scope: 'principal', id: principal }} />
      {held.length > 0 && mayAct(me, 'approver') && <DenyAll requests={held} />}
    </>
  )
}

/** The call that it is about, and what its session did from there on. */
function Afterwards({ call: { session, atMs } }: { call: CallRecord }): JSX.Element {
  const { call, open } = useOpenCall()
  const query = { session, sinceMs: atMs, order: 'oldest', limit: SHOWN }
  const calls = useResource<LedgerPage>(`/ledger${formatQuery(query)}`, 10_000).value?.calls ?? []
  return (
    <section className="card card-body stack" aria-label="What the session did from there on">
      <div className="row spread">
        <h2 className="small-head">What the session did from there on</h2>
        <Link to={`/ledger${formatQuery({ session, sinceMs: atMs, view: 'timeline' })}`}>
          Timeline
        </Link>
      </div>
      <ol className="before">
        {calls.map((one) => (
          <li key={one.seq}>
            <button type="button" className="before-call" onClick={() => open(one)}>
              <span className="muted num small">{clock(one.atMs)}</span>
              <OutcomeBadge word={one.word} bare />
              <TextLine text={titleOfCall(one)} className="mono" />
              {one.labels.length > 0 && <span className="tag high">{one.labels.join(', ')}</span>}
              <TextLine text={one.word === 'allow' ? '' : one.reason} className="muted small" />
            </button>
          </li>
        ))}
      </ol>
      {call !== undefined && <CallExplanationDrawer at={call} onClose={() => open(undefined)} />}
    </section>
  )
}
