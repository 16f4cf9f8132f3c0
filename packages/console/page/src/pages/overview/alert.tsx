// One alert: what, since when, the facts; the calls that it is about, the words that were found, what the session
// did afterwards; and what one does about it, in order.

import type { JSX } from 'react'
import type {
  AlertsView,
  CallRecord,
  LedgerPage,
  SentAlertView,
} from '../../../../src/contract/contract.ts'
import { formatQuery, post, save } from '../../api.ts'
import { FreezeButton } from '../../freeze.tsx'
import { useOpenTitle } from '../../page-title.ts'
import { queries, useResource } from '../../resource.ts'
import { useRoute } from '../../route.ts'
import { mayAct, useMe } from '../../session.ts'
import { AlertState } from '../../ui/alert-list.tsx'
import { AskButton } from '../../ui/ask.tsx'
import { Button, Link } from '../../ui/button.tsx'
import { CallList } from '../../ui/call-list.tsx'
import { Icon } from '../../ui/icons.tsx'
import { Empty, Notice, Page } from '../../ui/page.tsx'
import { Facts, Loaded, Panel } from '../../ui/panel.tsx'
import { UntrustedText } from '../../ui/text.tsx'
import { count, date } from '../../ui/words.ts'
import { DenyAll } from '../approvals/deny-all.tsx'
import { useInbox } from '../approvals/inbox.ts'
import { useOpenCall } from '../ledger/explained.tsx'
import { summarizeIncident, writeReport } from './incident.ts'
import './overview.css'

const SHOWN = 12
/** Calls that the summary and the report are made of. */
const READ = 500

export function AlertPage(): JSX.Element {
  const { rest } = useRoute()
  const alerts = useResource<AlertsView>('/alerts', 10_000)
  const alert = alerts.value?.sent.find(({ id }) => id === rest[0])
  useOpenTitle(alert?.title)
  return (
    <Page title={alert?.title ?? 'Alert'} side={alert !== undefined && <AlertState {...alert} />}>
      <Loaded of={alerts}>
        {() =>
          alert === undefined ? (
            <Empty icon="warn" title="This alert is not here">
              It may be older than what is kept.{' '}
              <Link to="/settings?section=alerts">All alerts</Link>
            </Empty>
          ) : (
            <WholeAlert alert={alert} />
          )
        }
      </Loaded>
    </Page>
  )
}

function WholeAlert({ alert }: { alert: SentAlertView }): JSX.Element {
  const { atMs, facts, found, page, undelivered, handled } = alert
  const isOfCalls = page.startsWith('/ledger?')
  const about = useResource<LedgerPage>(isOfCalls ? `${page}&limit=1` : undefined).value?.calls[0]
  return (
    <>
      <Panel title="What happened" isSmall>
        <Facts
          of={{
            Since: date(atMs),
            ...Object.fromEntries(
              facts.map(({ name, value }) => [name, <UntrustedText key={name} text={value} />]),
            ),
            ...(handled !== null && {
              Handled: (
                <UntrustedText
                  text={`by ${handled.by}, ${date(handled.atMs)}${handled.note && `: ${handled.note}`}`}
                />
              ),
            }),
          }}
        />
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
          {handled === null && <Handle id={alert.id} />}
          <Link to={page}>{isOfCalls ? 'Open in the ledger' : 'Go to where it can be solved'}</Link>
        </div>
      </Panel>
      {about !== undefined && <Afterwards alert={alert} call={about} />}
    </>
  )
}

/** Then it leaves the list of what needs a person, for everybody; what it is about stays as it is. */
function Handle({ id }: { id: string }): JSX.Element | null {
  if (!mayAct(useMe(), 'approver')) return null
  return (
    <AskButton
      says="Mark as handled…"
      title="Mark this alert as handled"
      fields={[{ name: 'note', label: 'What was done' }]}
      confirm="Mark as handled"
      onSubmit={async (values) => {
        await post(`/alerts/${encodeURIComponent(id)}/handled`, values)
        await queries.invalidateQueries({ queryKey: ['/alerts'] })
      }}
    />
  )
}

/** In the order in which one does them: stop the caller, deny what waits. */
function Actions({ call: { principal, session } }: { call: CallRecord }): JSX.Element {
  const me = useMe()
  const held = useInbox().pending.filter((one) => one.session === session)
  return (
    <>
      <FreezeButton target={{ scope: 'principal', id: principal }} />
      {held.length > 0 && mayAct(me, 'approver') && <DenyAll requests={held} />}
    </>
  )
}

/** The call that it is about, and what its session did from there on. */
function Afterwards({ alert, call }: { alert: SentAlertView; call: CallRecord }): JSX.Element {
  const { session, atMs } = call
  const { open, drawer } = useOpenCall()
  const query = { session, sinceMs: atMs, order: 'oldest', limit: READ }
  const page = useResource<LedgerPage>(`/ledger${formatQuery(query)}`, 10_000).value
  const calls = page?.calls ?? []
  const timeline = `/ledger${formatQuery({ session, sinceMs: atMs, view: 'timeline' })}`
  const rest = `${page?.next == null ? '' : 'at least '}${count(calls.length - SHOWN)}`
  const incident = summarizeIncident(calls)
  const report = () => {
    const text = writeReport({ alert, calls, isWhole: page?.next == null })
    save(new Blob([text], { type: 'text/markdown' }), `sluice-incident-${alert.id}.md`)
  }
  return (
    <Panel
      title="What the session did from there on"
      isSmall
      side={
        <span className="row">
          <Button onPress={report} isDisabled={page === undefined}>
            <Icon name="download" /> Download report
          </Button>
          <Link to={timeline}>Timeline</Link>
        </span>
      }
    >
      <Facts
        of={Object.fromEntries(
          Object.entries(incident).map(([name, list]) => [
            name,
            list.length > 0 && <UntrustedText key={name} text={list.join(', ')} />,
          ]),
        )}
      />
      <CallList calls={calls.slice(0, SHOWN)} onOpen={open} />
      {calls.length > SHOWN && (
        <p>
          <Link to={timeline}>and {rest} more</Link>
        </p>
      )}
      {drawer}
    </Panel>
  )
}
