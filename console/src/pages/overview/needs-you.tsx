// What needs a person now, in one list: held calls, definitions, failing servers, full limits, lost gates and
// other alerts that are ongoing. Each leads to where one acts. Below it the state of servers, gates and agents.

import type { JSX, ReactNode } from 'react'
import type {
  AlertsView,
  ApprovalRequest,
  LimitsView,
  ListedAgentView,
  ServerView,
  SettingsView,
} from '../../../../packages/sluice/src/admin/contract/contract.ts'
import { useResource } from '../../resource.ts'
import { pathTo } from '../../route.ts'
import { Link } from '../../ui/button.tsx'
import { Icon, type IconName } from '../../ui/icons.tsx'
import { useNow } from '../../ui/now.ts'
import type { PERIODS } from '../../ui/periods.ts'
import { UntrustedText } from '../../ui/text.tsx'
import { ago, formatTimeLeft, minute, plural } from '../../ui/words.ts'
import { listPending, useInbox } from '../approvals/inbox.ts'
import { NEARLY_FULL } from './limits.tsx'
import { Usage } from './usage.tsx'

interface Need {
  readonly key: string
  readonly icon: IconName
  readonly says: string
  readonly detail: string
  readonly to: string
  /** What one does about it. */
  readonly act: string
}

/** Alerts of these kinds are about something that is in the list by itself. */
const LISTED_KINDS = ['definition', 'server', 'limit', 'tools', 'gate']

export function NeedsYou({
  period,
  everyMs,
}: {
  period: (typeof PERIODS)[number]
  everyMs: number
}): JSX.Element {
  const pending = listPending(useInbox())
  const now = useNow(10_000)
  const servers = useResource<{ servers: ServerView[] }>('/servers', everyMs).value?.servers
  const settings = useResource<SettingsView>('/settings', everyMs).value
  const limits = useResource<LimitsView>('/limits', everyMs).value?.limits ?? []
  const alerts = useResource<AlertsView>('/alerts', everyMs).value?.sent ?? []
  const needs = listNeeds({ pending, servers, settings, limits, alerts }, now)
  return (
    <>
      <section className="card" aria-label="Needs you">
        <h2 className="small-head needs-head">Needs you</h2>
        <ul>
          {needs.slice(0, NEEDS_SHOWN).map(({ key, icon, says, detail, to, act }) => (
            <li key={key}>
              <Link to={to} className="need">
                <Icon name={icon} />
                <UntrustedText text={says} className="strong" />
                <UntrustedText text={detail} className="muted small cut" />
                <span className="need-act">{act}</span>
              </Link>
            </li>
          ))}
        </ul>
        {needs.length > NEEDS_SHOWN && (
          <p className="muted small needs-none">and {needs.length - NEEDS_SHOWN} more</p>
        )}
        {needs.length === 0 && (
          <p className="muted needs-none">
            {servers === undefined ? 'Looking…' : 'Nothing waits for a person.'}
          </p>
        )}
      </section>
      <States servers={servers} settings={settings} period={period} everyMs={everyMs} />
    </>
  )
}

interface NeedSources {
  readonly pending: readonly ApprovalRequest[]
  readonly servers: readonly ServerView[] | undefined
  readonly settings: SettingsView | undefined
  readonly limits: LimitsView['limits']
  readonly alerts: AlertsView['sent']
}

function listNeeds(
  { pending, servers, settings, limits, alerts }: NeedSources,
  now: number,
): Need[] {
  return [
    ...(pending[0] === undefined
      ? []
      : [
          {
            key: 'approvals',
            icon: 'approvals' as const,
            says: plural(pending.length, 'pending approval'),
            detail: `the first has ${formatTimeLeft(pending[0].expiresAtMs, now)}`,
            to: '/approvals',
            act: 'Decide',
          },
        ]),
    ...(servers ?? []).flatMap(listServerNeeds),
    ...(settings?.gates ?? [])
      .filter(({ state }) => state === 'lost')
      .map(({ name, seenAtMs }) => ({
        key: `gate ${name}`,
        icon: 'servers' as const,
        says: `The gate ${name} is lost`,
        detail: `since ${minute(seenAtMs)}`,
        to: '/settings?section=data',
        act: 'Look',
      })),
    ...limits
      .filter(({ share }) => share >= NEARLY_FULL)
      .map(({ limit, whose, used, max }) => ({
        key: `limit ${limit} ${whose}`,
        icon: 'limited' as const,
        says: `${limit}: ${used} of ${max} used`,
        detail: whose.replace(/#\d+@\d{13}$/, ', one session'),
        to: '/overview?section=limits',
        act: 'Look',
      })),
    ...alerts
      .filter(({ state, kind }) => state === 'ongoing' && !LISTED_KINDS.includes(kind))
      .map(({ id, title, facts, atMs }) => ({
        key: id,
        icon: 'warn' as const,
        says: title,
        detail: [ago(atMs, now), ...facts.map(({ name, value }) => `${name}: ${value}`)].join('; '),
        to: pathTo('alerts', id),
        act: 'Look',
      })),
  ]
}

const NEEDS_SHOWN = 12

function listServerNeeds({ name, state, why, undecided, new: fresh }: ServerView): Need[] {
  const page = pathTo('servers', name)
  const needs: Need[] = []
  if (undecided > 0)
    needs.push({
      key: `definitions ${name}`,
      icon: 'warn',
      says: plural(undecided, 'definition to review', 'definitions to review'),
      detail: `of ${name}: calls are denied until you accept or refuse`,
      to: `${page}?section=definitions`,
      act: 'Review',
    })
  if (state === 'failing' || state === 'needs login')
    needs.push({
      key: `server ${name}`,
      icon: 'servers',
      says: state === 'failing' ? `${name} is failing` : `${name} needs a login`,
      detail: why.replaceAll('`', ''),
      to: page,
      act: 'Look',
    })
  if (fresh > 0)
    needs.push({
      key: `new ${name}`,
      icon: 'servers',
      says: plural(fresh, 'new tool'),
      detail: `of ${name}`,
      to: `${page}?show=new`,
      act: 'Look',
    })
  return needs
}

/** How servers, gates and agents are; nothing is said to be well that was not looked at. */
function States({
  servers,
  settings,
  period,
  everyMs,
}: {
  servers: readonly ServerView[] | undefined
  settings: SettingsView | undefined
  period: (typeof PERIODS)[number]
  everyMs: number
}): JSX.Element {
  const agents = useResource<{ running: boolean; agents: ListedAgentView[] }>('/agents', everyMs)
  const list = servers ?? []
  const failing = list.filter(({ state }) => state === 'failing' || state === 'needs login').length
  const unread = list.filter(({ listed, state }) => !listed && state === 'idle').length
  const gates = (settings?.gates ?? []).filter(({ state }) => state !== 'stopped')
  const lost = gates.filter(({ state }) => state === 'lost').length
  return (
    <ul className="attention">
      <Card
        icon="servers"
        to="/servers"
        detail={unread === 0 ? '' : `${unread} not read since the start`}
      >
        {failing === 0
          ? `${plural(list.length, 'server')}, ${unread === list.length ? 'none looked at' : 'none failing'}`
          : `${failing} of ${plural(list.length, 'server')} failing`}
      </Card>
      {gates.length > 0 && (
        <Card icon="servers" to="/settings?section=data" detail="figures of all gates">
          {lost === 0
            ? `${plural(gates.length, 'gate')}, all live`
            : `${lost} of ${plural(gates.length, 'gate')} lost`}
        </Card>
      )}
      {agents.value?.running === true && (
        <Card icon="agents" to="/agents" detail={<Usage period={period} everyMs={everyMs} />}>
          {plural(agents.value.agents.length, 'agent')}
        </Card>
      )}
    </ul>
  )
}

function Card({
  icon,
  to,
  detail,
  children,
}: {
  icon: IconName
  to: string
  detail: ReactNode
  children: ReactNode
}): JSX.Element {
  return (
    <li>
      <Link to={to} className="card attention-card">
        <Icon name={icon} />
        <span>
          <span className="strong">{children}</span>
          {detail !== '' && <span className="muted small attention-detail">{detail}</span>}
        </span>
      </Link>
    </li>
  )
}
