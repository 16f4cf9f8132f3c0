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
import { SaidLine } from '../../ui/said.tsx'
import { ago, left } from '../../ui/words.ts'
import { listPending, useInbox } from './inbox.ts'
import { Request, StateMark } from './request.tsx'
import { StandingApprovals } from './standing.tsx'
import './approvals.css'

export function Approvals(): JSX.Element {
  const inbox = useInbox()
  const me = useMe()
  const { rest } = useRoute()
  const [shows, setShows] = useState('waiting')
  const pending = listPending(inbox)
  const shown =
    shows === 'waiting' ? pending : inbox.requests.filter((one) => !pending.includes(one))
  const open =
    inbox.requests.find(({ id }) => id === rest[0]) ??
    (rest[0] === undefined ? shown[0] : undefined)
  useListKeys(shows === 'standing' ? [] : shown, open)
  return (
    <div className="page">
      <PageHead title="Approvals" lead="Calls that the policy holds until a person has looked.">
        <Chips
          label="Which calls"
          value={shows}
          onChange={setShows}
          choices={[
            { value: 'waiting', says: `Waiting ${pending.length}` },
            { value: 'decided', says: 'Decided' },
            { value: 'standing', says: 'For a while' },
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
          title={shows === 'waiting' ? 'Nothing waits' : 'Nothing was decided yet'}
        >
          {shows === 'waiting' ? (
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
                <Button kind="quiet" onPress={() => go('/approvals')}>
                  <Icon name="back" /> All
                </Button>
              </div>
            )}
            {open === undefined ? (
              <Empty icon="approvals" title="This request is not here">
                It may be older than what is kept.
              </Empty>
            ) : (
              <Request request={open} key={open.id} />
            )}
          </div>
        </div>
      )}
    </div>
  )
}

function Entry({ request, current }: { request: ApprovalRequest; current: boolean }): JSX.Element {
  const now = useNow(5_000)
  return (
    <button
      type="button"
      className="inbox-entry"
      aria-current={current}
      onClick={() => go(pathTo('approvals', request.id))}
    >
      <span className="row spread">
        <StateMark request={request} />
        <span className="muted small num">
          {request.state === 'pending' ? left(request.expiresAtMs, now) : ago(request.atMs, now)}
        </span>
      </span>
      <SaidLine text={titleOfCall(request)} className="inbox-name" />
      <span className="row spread">
        <SaidLine
          text={request.agent === null ? request.principal.id : `${request.principal.id}, an agent`}
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
      if (next !== undefined) go(pathTo('approvals', next.id), true)
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
