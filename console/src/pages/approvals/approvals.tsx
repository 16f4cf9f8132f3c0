// Approvals: the inbox at the left, the selected call next to it (instead of it on a phone). Arrow
// keys or j and k move, a approves, d denies.

import { type JSX, useEffect, useState } from 'react'
import type { ApprovalRequest } from '../../../../packages/sluice/src/admin/contract/contract.ts'
import { titleOfCall } from '../../../../packages/sluice/src/core/call-title.ts'
import { go, pathTo, useRoute } from '../../route.ts'
import { mayAct, useMe } from '../../session.ts'
import { Button, Link } from '../../ui/button.tsx'
import { Chips } from '../../ui/fields.tsx'
import { Icon } from '../../ui/icons.tsx'
import { Risk } from '../../ui/marks.tsx'
import { useNow } from '../../ui/now.ts'
import { Empty, PageHead } from '../../ui/page.tsx'
import { TextLine } from '../../ui/text.tsx'
import { ago, formatTimeLeft } from '../../ui/words.ts'
import { parseMembers } from './arguments.tsx'
import { listPending, useInbox } from './inbox.ts'
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
  const open =
    inbox.requests.find(({ id }) => id === rest[0]) ??
    (rest[0] === undefined ? shown[0] : undefined)
  useListKeys(shows === 'standing' ? [] : shown, open)
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
          <nav className="split-list card" aria-label="Held calls">
            <ul className="inbox">
              {shown.map((request) => (
                <li key={request.id}>
                  <Entry request={request} current={request.id === open?.id} />
                </li>
              ))}
            </ul>
          </nav>
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
              <Request request={open} key={open.id} onDecided={() => goOn(open, shown)} />
            )}
          </div>
        </div>
      )}
    </div>
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

/** Enough to tell two requests apart. */
function summarize(args: string): string {
  const members = parseMembers(args)
  if (members === undefined) return args.slice(0, 200)
  const text = members.map(([name, value]) => `${name} ${asText(value)}`)
  return text.join(' · ').slice(0, 200)
}

function asText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function Entry({ request, current }: { request: ApprovalRequest; current: boolean }): JSX.Element {
  const now = useNow(5_000)
  const isSoon = request.state === 'pending' && request.expiresAtMs - now < SOON_MS
  return (
    <button
      type="button"
      className="inbox-entry"
      aria-current={current}
      onClick={() => go(toEntry(request.id))}
    >
      <span className="row spread">
        <StateMark request={request} />
        <span className={`small num ${isSoon ? 'soon' : 'muted'}`}>
          {request.state === 'pending'
            ? formatTimeLeft(request.expiresAtMs, now)
            : `asked ${ago(request.atMs, now)}`}
        </span>
      </span>
      <TextLine text={titleOfCall(request)} className="inbox-name" />
      {request.args !== '' && request.args !== '{}' && (
        <TextLine text={summarize(request.args)} className="mono small inbox-args" />
      )}
      <span className="row spread">
        <TextLine
          text={request.agent === null ? request.principal.id : `${request.principal.id} via agent`}
          className="muted small"
        />
        <Risk level={request.risk} unknown={request.unknown} />
      </span>
    </button>
  )
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
