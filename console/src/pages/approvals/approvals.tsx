// Approvals: the inbox at the left, the selected call next to it (instead of it on a phone). Arrow
// keys or j and k move, a approves, d denies.

import { type JSX, useEffect, useState } from 'react'
import type { ApprovalRequest } from '../../../../packages/sluice/src/admin/contract/contract.ts'
import { titleOfCall } from '../../../../packages/sluice/src/core/call-title.ts'
import { formatQuery } from '../../api.ts'
import { FreezeButton } from '../../freeze.tsx'
import { go, pathTo, setQuery, useRoute } from '../../route.ts'
import { mayAct, useMe } from '../../session.ts'
import { Button, Link } from '../../ui/button.tsx'
import { Chips, SelectField, TextField } from '../../ui/fields.tsx'
import { Icon } from '../../ui/icons.tsx'
import { Risk } from '../../ui/marks.tsx'
import { useNow } from '../../ui/now.ts'
import { Empty, PageHead } from '../../ui/page.tsx'
import { TextLine } from '../../ui/text.tsx'
import { ago, formatTimeLeft } from '../../ui/words.ts'
import { DenyAll } from './deny-all.tsx'
import { groupBySession, ORDERS, type SessionGroup, summarize } from './groups.ts'
import { listPending, loadDecided, useInbox } from './inbox.ts'
import { Request, StateMark } from './request.tsx'
import { StandingApprovals } from './standing.tsx'
import './approvals.css'

export function Approvals(): JSX.Element {
  const inbox = useInbox()
  const me = useMe()
  const { rest, query } = useRoute()
  const shows = query.get('show') ?? 'pending'
  const pending = listPending(inbox)
  const shown =
    shows === 'pending' ? pending : inbox.requests.filter((one) => !pending.includes(one))
  const order = query.get('order') ?? 'time'
  const search = query.get('q') ?? ''
  const groups = groupBySession(shown, { order, search })
  const inOrder = groups.flatMap(({ requests }) => requests)
  const open =
    inbox.requests.find(({ id }) => id === rest[0]) ??
    (rest[0] === undefined ? inOrder[0] : undefined)
  const isMissing = inbox.state === 'open' && rest[0] !== undefined && open === undefined
  useDecided(shows === 'decided' || isMissing)
  useListKeys(shows === 'standing' ? [] : inOrder, open)
  return (
    <div className="page">
      <PageHead title="Approvals" lead="Calls that wait for a person to approve or deny them.">
        <Chips
          label="Which calls"
          value={shows}
          onChange={(show) => go(`/approvals${show === 'pending' ? '' : `?show=${show}`}`)}
          choices={[
            { value: 'pending', says: `Pending ${pending.length}` },
            { value: 'decided', says: 'Decided' },
            { value: 'standing', says: 'Standing approvals' },
          ]}
        />
        <NotifyMe />
      </PageHead>
      {shows === 'standing' ? (
        <div className="page-body">
          <StandingApprovals />
        </div>
      ) : shown.length === 0 && open === undefined ? (
        <Empty
          icon="approvals"
          title={shows === 'pending' ? 'Nothing to approve' : 'Nothing was decided yet'}
        >
          {shows === 'pending' ? (
            <>
              Calls that a rule with <code>require_approval</code> holds appear here at once.
              {me?.mayProve === false && mayAct(me, 'approver') && (
                <>
                  {' '}
                  To decide you need a passkey: <Link to="/settings">add one</Link> before the first
                  of them comes.
                </>
              )}
            </>
          ) : (
            'What you and others decide is kept here and on record.'
          )}
        </Empty>
      ) : (
        <div className="split" data-open={rest[0] !== undefined}>
          <HeldCalls groups={groups} order={order} search={search} openId={open?.id} />
          <div className="split-detail">
            {rest[0] !== undefined && (
              <div className="phone-back">
                <Button kind="quiet" onPress={() => go(`/approvals${location.search}`)}>
                  <Icon name="back" /> All
                </Button>
              </div>
            )}
            {open === undefined ? (
              <Empty icon="approvals" title="This request is not here">
                It may be older than what is kept.
              </Empty>
            ) : (
              <Request request={open} key={open.id} onDecided={() => goOn(open, inOrder)} />
            )}
          </div>
        </div>
      )}
    </div>
  )
}

function HeldCalls({
  groups,
  order,
  search,
  openId,
}: {
  groups: readonly SessionGroup[]
  order: string
  search: string
  openId: string | undefined
}): JSX.Element {
  return (
    <nav className="split-list card" aria-label="Held calls">
      <div className="row inbox-tools">
        <TextField
          label="Search held calls"
          quiet
          placeholder="Tool, caller, value"
          value={search}
          onChange={(q) => setQuery({ q })}
        />
        <SelectField
          label="Order"
          value={order}
          onChange={(next) => setQuery({ order: next === 'time' ? '' : next })}
          choices={ORDERS}
        />
      </div>
      {groups.map((group) => (
        <Group key={group.session} group={group} openId={openId} />
      ))}
      {groups.length === 0 && <p className="muted card-body">No held call matches.</p>}
    </nav>
  )
}

/** To the next one, as a mailbox does. */
function goOn({ id }: ApprovalRequest, shown: readonly ApprovalRequest[]): void {
  const at = shown.findIndex((one) => one.id === id)
  const next = shown[at + 1] ?? shown[at - 1]
  go(next === undefined ? '/approvals' : toEntry(next.id), true)
}

/** Its list stays chosen. */
function toEntry(id: string): string {
  return `${pathTo('approvals', id)}${location.search}`
}

/** The last minutes are marked. */
const SOON_MS = 2 * 60_000

/** Whose calls they are, and what can be done about all of them. */
function Group({
  group: { session, requests },
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
    <section className="inbox" aria-label={`Held calls of ${principal.id}`}>
      <header className="row spread inbox-head">
        <Link to={to} className="cut">
          <TextLine text={principal.id} className="strong" />{' '}
          <TextLine
            text={agent === null ? (sessionName ?? '') : 'by an agent'}
            className="small muted"
          />
        </Link>
        {state === 'pending' && requests.length > 1 && (
          <span className="row">
            {canAct && <DenyAll requests={requests} />}
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

function Entry({ request, current }: { request: ApprovalRequest; current: boolean }): JSX.Element {
  const now = useNow(5_000)
  const isPending = request.state === 'pending'
  const isSoon = isPending && request.expiresAtMs - now < SOON_MS
  return (
    <button
      type="button"
      className="inbox-entry"
      aria-current={current}
      onClick={() => go(toEntry(request.id))}
    >
      <span className="row spread">
        <TextLine text={titleOfCall(request)} className="inbox-name" />
        {isPending ? (
          <Risk level={request.risk} unknown={request.unknown} />
        ) : (
          <StateMark request={request} />
        )}
      </span>
      <span className="row spread">
        <TextLine text={summarize(request.args)} className="mono small muted" />
        <span className={`small num ${isSoon ? 'soon' : 'muted'}`}>
          {isPending ? formatTimeLeft(request.expiresAtMs, now) : ago(request.atMs, now)}
        </span>
      </span>
    </button>
  )
}

/** Those that are decided are fetched when they are asked for. */
function useDecided(isNeeded: boolean): void {
  useEffect(() => {
    if (isNeeded) loadDecided()
  }, [isNeeded])
}

function useListKeys(shown: readonly ApprovalRequest[], open: ApprovalRequest | undefined): void {
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      const target = event.target as HTMLElement
      if (event.metaKey || event.ctrlKey || event.altKey) return
      if (target.closest('input, textarea, select, [role="dialog"], [role="radiogroup"]') !== null)
        return
      const by = ({ j: 1, ArrowDown: 1, k: -1, ArrowUp: -1 } as Record<string, number>)[event.key]
      if (by === undefined || shown.length === 0) return
      const at = shown.findIndex(({ id }) => id === open?.id)
      const next = shown[Math.min(shown.length - 1, Math.max(0, at + by))]
      if (next !== undefined) go(toEntry(next.id), true)
      event.preventDefault()
    }
    window.addEventListener('keydown', press)
    return () => window.removeEventListener('keydown', press)
  }, [shown, open])
}

function NotifyMe(): JSX.Element | null {
  const can = 'Notification' in window
  const [state, setState] = useState(can ? Notification.permission : 'denied')
  if (state !== 'default') return null
  return <Button onPress={() => Notification.requestPermission().then(setState)}>Notify me</Button>
}
