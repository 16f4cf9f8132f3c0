// What needs a person now, in one list: held calls, definitions, failing servers, full limits, lost gates and
// other alerts that are not handled. Each leads to where one acts. Below it the state of servers, gates and agents.

import type { JSX, ReactNode } from 'react'
import type {
  AlertsView,
  ApprovalRequest,
  LimitsView,
  ListedAgentView,
  Overview,
  PolicyView,
  ServerView,
  SettingsView,
} from '../../../../src/contract/contract.ts'
import { formatQuery } from '../../api.ts'
import { useResource } from '../../resource.ts'
import { pathTo } from '../../route.ts'
import { needsPerson } from '../../ui/alert-list.tsx'
import { Link } from '../../ui/button.tsx'
import { Icon, type IconName } from '../../ui/icons.tsx'
import { useNow } from '../../ui/now.ts'
import { Loading } from '../../ui/page.tsx'
import { Panel } from '../../ui/panel.tsx'
import { type PERIODS, REFRESH_MS } from '../../ui/periods.ts'
import { UntrustedText } from '../../ui/text.tsx'
import { ago, formatTimeLeft, minute, plural } from '../../ui/words.ts'
import { useInbox } from '../approvals/inbox.ts'
import { isShadowOver } from '../policy/shadow-end.ts'
import { NEARLY_FULL } from './limits.tsx'
import { Usage } from './usage.tsx'

interface Need {
  readonly icon: IconName
  readonly says: string
  readonly detail: string
  readonly to: string
  /** What one does about it, if it is more than to look. */
  readonly act?: string
  /** Something is attacked, or calls are lost: it comes first. */
  readonly isDanger?: boolean
}

/** Alerts of these kinds are about something that is in the list by itself. */
const LISTED_KINDS = ['definition', 'server', 'limit', 'tools', 'gate']
const DANGEROUS_KINDS = ['injection', 'ledger', 'hooks']
const QUEUE_FULL = 'APPROVAL_LIMITED'
const LAST_HOUR = { lengthMs: 3_600_000 }

export function NeedsYou(): JSX.Element {
  const { pending } = useInbox()
  const now = useNow(10_000)
  const servers = useResource<{ servers: ServerView[] }>('/servers', REFRESH_MS).value?.servers
  const settings = useResource<SettingsView>('/settings', REFRESH_MS).value
  const limits = useResource<LimitsView>('/limits', REFRESH_MS).value?.limits ?? []
  const alerts = useResource<AlertsView>('/alerts', REFRESH_MS).value?.sent ?? []
  const hour = useResource<Overview>(`/overview${formatQuery(LAST_HOUR)}`, REFRESH_MS).value
  const policies = useResource<PolicyView>('/policy', REFRESH_MS * 6).value?.documents ?? []
  const refused = hour?.reasons.find(({ name }) => name === QUEUE_FULL)?.calls ?? 0
  const needs = listNeeds({ pending, refused, servers, settings, limits, alerts, policies }, now)
  return (
    <Panel title="Needs you" isSmall>
      <ul>
        {needs.slice(0, NEEDS_SHOWN).map(({ icon, says, detail, to, act = 'Look', isDanger }) => (
          <li key={`${says} ${detail}`} className={isDanger ? 'worse' : undefined}>
            <Link to={to} className="line-button need">
              <Icon name={icon} />
              <UntrustedText text={says} className="strong" />
              <UntrustedText text={detail} className="muted small cut" />
              <span className="need-act">{act}</span>
            </Link>
          </li>
        ))}
      </ul>
      {needs.length > NEEDS_SHOWN && (
        <p className="muted small">and {needs.length - NEEDS_SHOWN} more</p>
      )}
      {needs.length === 0 && (
        <p className="muted">
          {servers === undefined ? 'Looking…' : 'Nothing waits for a person.'}
        </p>
      )}
    </Panel>
  )
}

function listNeeds(
  {
    pending,
    refused,
    servers,
    settings,
    limits,
    alerts,
    policies,
  }: {
    readonly pending: readonly ApprovalRequest[]
    /** Calls of the last hour that found the queue of approvals full. */
    readonly refused: number
    readonly servers: readonly ServerView[] | undefined
    readonly settings: SettingsView | undefined
    readonly limits: LimitsView['limits']
    readonly alerts: AlertsView['sent']
    readonly policies: PolicyView['documents']
  },
  now: number,
): Need[] {
  const needs: Need[] = [
    ...(refused === 0
      ? []
      : [
          {
            icon: 'warn' as const,
            says: `${plural(refused, 'call')} refused unasked`,
            detail: 'in the last hour: too many of their session or tool wait for approval',
            to: `/ledger${formatQuery({ code: QUEUE_FULL, range: '1h' })}`,
            isDanger: true,
          },
        ]),
    ...pending.slice(0, 1).map(({ expiresAtMs }) => ({
      icon: 'approvals' as const,
      says: plural(pending.length, 'pending approval'),
      detail: `the first has ${formatTimeLeft(expiresAtMs, now)}`,
      to: '/approvals',
      act: 'Decide',
    })),
    ...(servers ?? []).flatMap(listServerNeeds),
    ...(settings?.gates ?? [])
      .filter(({ state }) => state === 'lost')
      .map(({ name, seenAtMs }) => ({
        icon: 'servers' as const,
        says: `The gate ${name} is lost`,
        detail: `since ${minute(seenAtMs)}`,
        to: '/settings?section=data',
      })),
    ...policies
      .filter(({ textInForce }) => isShadowOver(textInForce, now))
      .map(({ name }) => ({
        icon: 'policy' as const,
        says: 'Rules have been in shadow for long enough',
        detail: `of ${name}: put them in force, or remove them`,
        to: `/policy${formatQuery({ document: name })}`,
      })),
    ...limits
      .filter(({ share }) => share >= NEARLY_FULL)
      .map(({ limit, whose, used, max }) => ({
        icon: 'limited' as const,
        says: `${limit}: ${used} of ${max} used`,
        detail: whose.replace(/#\d+@\d{13}$/, ', one session'),
        to: '/overview?section=limits',
      })),
    ...alerts
      .filter((alert) => needsPerson(alert, now) && !LISTED_KINDS.includes(alert.kind))
      .map(({ id, kind, title, facts, atMs }) => ({
        icon: 'warn' as const,
        says: title,
        detail: [ago(atMs, now), ...facts.map(({ name, value }) => `${name}: ${value}`)].join('; '),
        to: pathTo('alerts', id),
        isDanger: DANGEROUS_KINDS.includes(kind),
      })),
  ]
  return needs.sort((one, other) => Number(other.isDanger ?? false) - Number(one.isDanger ?? false))
}

const NEEDS_SHOWN = 12

function listServerNeeds(server: ServerView): Need[] {
  const { name, state, why, undecided, new: fresh, oldHooks } = server
  const page = pathTo('servers', name)
  const needs: Need[] = []
  if (oldHooks)
    needs.push({
      icon: 'warn',
      says: `${name} has hooks of an older version`,
      detail: `run sluice init --hooks ${name} again, with --enforce if they are to block`,
      to: page,
    })
  if (undecided > 0)
    needs.push({
      icon: 'warn',
      says: plural(undecided, 'definition to review', 'definitions to review'),
      detail: `of ${name}: calls are denied until a policy manager accepts or refuses`,
      to: `${page}?section=definitions`,
      act: 'Review',
    })
  if (state === 'failing' || state === 'needs login')
    needs.push({
      icon: 'servers',
      says: state === 'failing' ? `${name} is failing` : `${name} needs a login`,
      detail: why.replaceAll('`', ''),
      to: page,
    })
  if (fresh > 0)
    needs.push({
      icon: 'servers',
      says: plural(fresh, 'new tool'),
      detail: `of ${name}`,
      to: `${page}?show=new`,
    })
  return needs
}

/** How servers, gates and agents are; nothing is said to be well that was not looked at. */
export function States({ period }: { period: (typeof PERIODS)[number] }): JSX.Element {
  const servers = useResource<{ servers: ServerView[] }>('/servers', REFRESH_MS).value
  const settings = useResource<SettingsView>('/settings', REFRESH_MS).value
  const list = servers?.servers ?? []
  const agents = useResource<{ running: boolean; agents: ListedAgentView[] }>(
    list.some(({ kind }) => kind === 'builtin') ? '/agents' : undefined,
    REFRESH_MS,
  )
  const failing = list.filter(({ state }) => state === 'failing' || state === 'needs login').length
  const unread = list.filter(({ listed, state }) => !listed && state === 'idle').length
  const gates = (settings?.gates ?? []).filter(({ state }) => state !== 'stopped')
  const lost = gates.filter(({ state }) => state === 'lost').length
  if (servers === undefined) return <Loading />
  return (
    <ul className="tiles">
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
        <Card icon="agents" to="/agents" detail={<Usage period={period} />}>
          {plural(agents.value.agents.length, 'agent')}
        </Card>
      )}
    </ul>
  )
}

interface CardProps {
  readonly icon: IconName
  readonly to: string
  readonly detail: ReactNode
  readonly children: ReactNode
}

function Card({ icon, to, detail, children }: CardProps): JSX.Element {
  return (
    <li>
      <Link to={to} className="card row line plain-link attention-card">
        <Icon name={icon} />
        <span>
          <span className="strong">{children}</span>
          {detail !== '' && <span className="muted small">{detail}</span>}
        </span>
      </Link>
    </li>
  )
}
