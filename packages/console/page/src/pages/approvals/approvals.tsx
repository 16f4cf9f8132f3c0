// Approvals: the inbox at the left, the selected call next to it (instead of it on a phone). Arrow
// keys or j and k move, a approves, d denies.

import { titleOfCall } from '@sluice/ledger/records/call-title'
import { type JSX, useState } from 'react'
import type { ApprovalRequest } from '../../../../src/contract/contract.ts'
import { type ApiError, formatQuery } from '../../api.ts'
import { FreezeButton } from '../../freeze.tsx'
import { useResource } from '../../resource.ts'
import { go, pathTo, setQuery, useRoute } from '../../route.ts'
import { mayAct, useMe } from '../../session.ts'
import { Button, Link } from '../../ui/button.tsx'
import { Chips, SelectField, TextField } from '../../ui/fields.tsx'
import { Icon } from '../../ui/icons.tsx'
import { isTyping, stepFrom, useKeys } from '../../ui/keys.ts'
import { Risk } from '../../ui/marks.tsx'
import { useNow } from '../../ui/now.ts'
import { Empty, ErrorNotice, Loading, PageHead } from '../../ui/page.tsx'
import { NameLine, TextLine } from '../../ui/text.tsx'
import { ago, count, formatTimeLeft, plural } from '../../ui/words.ts'
import { DenyAll } from './deny-all.tsx'
import { groupBySession, listDangers, ORDERS, type SessionGroup, summarize } from './groups.ts'
import { type DecidedRequests, decidedAt, pathOf, useDecided, useInbox } from './inbox.ts'
import { Request, StateMark } from './request.tsx'
import { StandingApprovals } from './standing.tsx'
import './approvals.css'

export function Approvals(): JSX.Element {
  const { pending, state } = useInbox()
  const { rest, query } = useRoute()
  const shows = query.get('show') ?? 'pending'
  const search = query.get('q') ?? ''
  const decided = useDecided(shows === 'decided', search)
  const shown = shows === 'decided' ? decided.requests : state === 'loading' ? undefined : pending
  const order = shows === 'decided' ? '' : (query.get('order') ?? 'danger')
  const groups = groupBySession(shown ?? [], { order, search: shows === 'decided' ? '' : search })
  const inOrder = groups.flatMap(({ requests }) => requests)
  const [wanted] = rest
  const { open, error } = useOpenRequest(wanted, inOrder)
  useListKeys(shows === 'standing' ? [] : inOrder, open)
  const list = () => {
    if (shown === undefined)
      return decided.error === undefined ? <Loading /> : <ErrorNotice error={decided.error} />
    if (shown.length === 0 && wanted === undefined && search === '')
      return <NoRequests shows={shows} isKnown={state !== 'lost'} />
    return (
      <div className="split" data-open={wanted !== undefined}>
        <HeldCalls groups={groups} openId={open?.id} order={order} decided={decided} />
        <div className="split-detail scroll">
          {wanted !== undefined && (
            <div className="phone-back">
              <Button kind="quiet" onPress={() => go(`/approvals${location.search}`)}>
                <Icon name="back" /> All
              </Button>
            </div>
          )}
          {open !== undefined && (
            <Request request={open} key={open.id} onDecided={() => goOn(open, inOrder)} />
          )}
          {open === undefined && wanted !== undefined && <NotHere error={error} />}
        </div>
      </div>
    )
  }
  return (
    <div className="page">
      <PageHead title="Approvals" lead="Calls that a person has to approve or deny.">
        <Chips
          label="Which calls"
          value={shows}
          onChange={(show) => go(`/approvals${show === 'pending' ? '' : `?show=${show}`}`)}
          choices={[
            { value: 'pending', says: `Pending ${count(pending.length)}` },
            { value: 'decided', says: 'Decided' },
            { value: 'standing', says: 'Standing approvals' },
          ]}
        />
        <NotifyMe />
      </PageHead>
      {shows === 'standing' ? (
        <div className="scroll page-body">
          <StandingApprovals />
        </div>
      ) : (
        list()
      )}
    </div>
  )
}

/** The one that the address names, however old, or the first of the list. */
function useOpenRequest(wanted: string | undefined, inOrder: readonly ApprovalRequest[]) {
  const { pending } = useInbox()
  const listed = wanted === undefined ? inOrder[0] : pending.find(({ id }) => id === wanted)
  const path = wanted === undefined || listed !== undefined ? undefined : pathOf(wanted)
  const { value, error } = useResource<ApprovalRequest>(path)
  return { open: listed ?? value, error }
}

function NotHere({ error }: { error: ApiError | undefined }): JSX.Element {
  if (error === undefined) return <Loading />
  return (
    <Empty icon="approvals" title="This request is not here">
      {error.status === 404
        ? 'The gate knows no request with this id; the ledger has every call.'
        : error.message}
    </Empty>
  )
}

/** `isKnown`: the gate has answered. */
function NoRequests({ shows, isKnown }: { shows: string; isKnown: boolean }): JSX.Element {
  const me = useMe()
  if (!isKnown) return <Empty icon="approvals" title="Not known while the gate does not answer" />
  if (shows === 'decided')
    return (
      <Empty icon="approvals" title="Nothing was decided yet">
        What you and others decide is kept here and on record.
      </Empty>
    )
  return (
    <Empty icon="approvals" title="Nothing to approve">
      Calls that a rule with <code>require_approval</code> holds appear here at once.
      {me?.mayProve === false && mayAct(me, 'approver') && (
        <>
          {' '}
          To decide you need a passkey: <Link to="/settings">add one</Link> before the first of them
          comes.
        </>
      )}
    </Empty>
  )
}

interface HeldCallsProps {
  readonly groups: readonly SessionGroup[]
  readonly openId: string | undefined
  /** Empty for decided ones: what was decided last comes first. */
  readonly order: string
  readonly decided: DecidedRequests
}

function HeldCalls({ groups, openId, order, decided }: HeldCallsProps): JSX.Element {
  const { query } = useRoute()
  return (
    <nav className="split-list card scroll" aria-label="Held calls">
      <div className="row inbox-tools">
        <TextField
          label="Search held calls"
          quiet
          placeholder="Tool, person, comment, value"
          value={query.get('q') ?? ''}
          onChange={(q) => setQuery({ q })}
        />
        {order !== '' && (
          <SelectField
            label="Order"
            value={order}
            onChange={(next) => setQuery({ order: next === 'danger' ? '' : next })}
            choices={ORDERS}
          />
        )}
        {order === '' && (
          <span className="muted small nowrap" role="status">
            {decided.total !== undefined && plural(decided.total, 'request')}
          </span>
        )}
      </div>
      {groups.map((group) => (
        <Group key={group.requests[0]?.id} group={group} openId={openId} />
      ))}
      {groups.length === 0 && (
        <p className="muted card-body">
          {query.has('q') ? 'None of these calls matches.' : 'There is no call here.'}
        </p>
      )}
      {order === '' && decided.onOlder !== undefined && (
        <Button kind="quiet" onPress={decided.onOlder}>
          Show older ones
        </Button>
      )}
    </nav>
  )
}

/** To the next one, as a mailbox does. */
function goOn({ id }: ApprovalRequest, shown: readonly ApprovalRequest[]): void {
  const at = shown.findIndex((one) => one.id === id)
  const next = shown[at + 1] ?? shown[at - 1]
  go(next === undefined ? `/approvals${location.search}` : toEntry(next.id), true)
}

/** Its list stays chosen. */
function toEntry(id: string): string {
  return `${pathTo('approvals', id)}${location.search}`
}

/** The last minutes are marked. */
const SOON_MS = 2 * 60_000

/** Whose calls they are, and what can be done about all of them. */
function Group({
  group: { session, requests, ofSession },
  openId,
}: {
  group: SessionGroup
  openId: string | undefined
}): JSX.Element {
  const me = useMe()
  const [{ principal, sessionName, agent, state }] = requests as [ApprovalRequest]
  const canAct = state === 'pending' && mayAct(me, 'approver') && me?.mayProve !== false
  const to = `/ledger${formatQuery({ session, view: 'timeline' })}`
  return (
    <section
      aria-label={
        ofSession.length > 0 ? `Held calls of ${principal.id}${nameSession(session)}` : undefined
      }
    >
      <header className="row spread inbox-head">
        <Link to={to} className="cut plain-link">
          <TextLine text={principal.id} className="strong" />{' '}
          <TextLine
            text={agent === null ? (sessionName ?? '') : 'by an agent'}
            className="small muted"
          />
        </Link>
        {state === 'pending' && ofSession.length > 1 && (
          <span className="row line">
            {canAct && <DenyAll requests={ofSession} />}
            <FreezeButton target={{ scope: 'principal', id: principal.id }} />
          </span>
        )}
      </header>
      <ul>
        {requests.map((request) => (
          <li key={request.id}>
            <Entry request={request} current={request.id === openId} />
          </li>
        ))}
      </ul>
    </section>
  )
}

/** `, session 3`: each group has a name of its own. */
function nameSession(id: string): string {
  const number = /#(\d+)@\d{13}$/.exec(id)?.[1]
  return number === undefined ? '' : `, session ${number}`
}

interface EntryProps {
  readonly request: ApprovalRequest
  readonly current: boolean
}

function Entry({ request, current }: EntryProps): JSX.Element {
  const now = useNow(5_000)
  const isPending = request.state === 'pending'
  const by = request.votes.at(-1)?.by
  const isSoon = isPending && request.expiresAtMs - now < SOON_MS
  return (
    <button
      type="button"
      className="inbox-entry"
      aria-current={current}
      onClick={() => go(toEntry(request.id))}
    >
      <span className="row spread">
        <NameLine text={titleOfCall(request)} className="strong" />
        {isPending ? (
          <span className="row line">
            {listDangers(request).map((danger) => (
              <span key={danger} className="tag critical">
                {danger}
              </span>
            ))}
            {request.unknown === true && <span className="tag high">unknown risk</span>}
            <Risk level={request.risk} unknown={request.unknown} />
          </span>
        ) : (
          <StateMark request={request} />
        )}
      </span>
      <span className="row line spread">
        <TextLine text={summarize(request.args)} className="mono small muted" />
        <span className={`small num nowrap ${isSoon ? 'worse' : 'muted'}`}>
          {isPending
            ? formatTimeLeft(request.expiresAtMs, now)
            : `${by === undefined ? '' : `${by}, `}${ago(decidedAt(request), now)}`}
        </span>
      </span>
    </button>
  )
}

function useListKeys(shown: readonly ApprovalRequest[], open: ApprovalRequest | undefined): void {
  useKeys(({ key }, target) => {
    if (!/^([jk]|Arrow(Up|Down))$/.test(key) || isTyping(target)) return false
    if (target.closest('[role="dialog"], [role="radiogroup"]') !== null) return false
    const at = shown.findIndex(({ id }) => id === open?.id)
    const next = shown[stepFrom(key, at, { last: shown.length - 1 }) ?? -1]
    if (next !== undefined) go(toEntry(next.id), true)
    return next !== undefined
  })
}

function NotifyMe(): JSX.Element | null {
  const can = 'Notification' in window
  const [state, setState] = useState(can ? Notification.permission : 'denied')
  if (state !== 'default') return null
  return <Button onPress={() => Notification.requestPermission().then(setState)}>Notify me</Button>
}
