// Overview, the first page: what needs a person now, and what passed and did not over the last hour to
// 30 days, beside the period before. Every figure leads to the calls behind it.

import { type JSX, type ReactNode, useMemo } from 'react'
import type {
  CountedName,
  LimitsView,
  ListedAgentView,
  Overview as OverviewData,
  ServerView,
  SettingsView,
} from '../../../../packages/sluice/src/admin/contract/contract.ts'
import { formatQuery } from '../../api.ts'
import { useResource } from '../../resource.ts'
import { go, pathTo, setQuery, useRoute } from '../../route.ts'
import { Link } from '../../ui/button.tsx'
import { splitTool, toLines } from '../../ui/call-counts.ts'
import { Chips } from '../../ui/fields.tsx'
import { Icon, type IconName } from '../../ui/icons.tsx'
import { OUTCOME_LABELS, OutcomeBadge } from '../../ui/marks.tsx'
import { ErrorNotice, Loading, NotFollowed, Notice, PageHead } from '../../ui/page.tsx'
import { PERIODS } from '../../ui/periods.ts'
import { Plot } from '../../ui/plot.tsx'
import { useSection } from '../../ui/section.ts'
import { GateText } from '../../ui/text.tsx'
import { TopList } from '../../ui/top-list.tsx'
import { count, minute, plural, short } from '../../ui/words.ts'
import { listPending, useInbox } from '../approvals/inbox.ts'
import { Change } from './change.tsx'
import { Limits, NEARLY_FULL } from './limits.tsx'
import { RecentAlerts } from './recent-alerts.tsx'
import { Usage } from './usage.tsx'
import './overview.css'

const REFRESH_MS = 10_000

export function Overview(): JSX.Element {
  const { query } = useRoute()
  const range = PERIODS.find(({ value }) => value === query.get('range')) ?? PERIODS[1]
  const path = `/overview?lengthMs=${range.ms}`
  const { value, error, reload } = useResource<OverviewData>(path, REFRESH_MS)
  return (
    <div className="page">
      <PageHead title="Overview" lead="What needs you now, and what passed the gate.">
        <Chips
          label="Period"
          value={range.value}
          onChange={(one) => setQuery({ range: one === '24h' ? '' : one })}
          choices={PERIODS}
        />
      </PageHead>
      <div className="page-body stack">
        {error !== undefined && <ErrorNotice error={error} again={reload} />}
        <NotReady />
        <Attention period={range} />
        <RecentAlerts everyMs={REFRESH_MS} />
        {value === undefined && error === undefined && <Loading />}
        {value !== undefined && <Figures data={value} range={range.before} />}
        <Limits everyMs={REFRESH_MS} />
      </div>
    </div>
  )
}

function NotReady(): JSX.Element | null {
  const gate = useResource<SettingsView>('/settings', REFRESH_MS).value
  if (gate === undefined || gate.ready) return null
  return (
    <Notice kind="bad">
      No call passes this gate: <GateText text={gate.why} />.
    </Notice>
  )
}

/** What waits for a person, or is not as it should be. */
function Attention({ period }: { period: (typeof PERIODS)[number] }): JSX.Element {
  const pending = listPending(useInbox()).length
  const servers = useResource<{ servers: ServerView[] }>('/servers', REFRESH_MS)
  const agents = useResource<{ running: boolean; agents: ListedAgentView[] }>('/agents', REFRESH_MS)
  const settings = useResource<SettingsView>('/settings', REFRESH_MS)
  const limits = useResource<LimitsView>('/limits', REFRESH_MS).value?.limits ?? []
  const full = limits.filter(({ share }) => share >= NEARLY_FULL)
  const gates = (settings.value?.gates ?? []).filter(({ state }) => state !== 'stopped')
  const lost = gates.filter(({ state }) => state === 'lost')
  const list = servers.value?.servers ?? []
  const failing = list.filter(({ state }) => state === 'failing' || state === 'needs login')
  const undecidedCount = list.reduce((sum, { undecided }) => sum + undecided, 0)
  const fresh = list.filter((server) => server.new > 0)
  return (
    <ul className="attention">
      <Card
        icon="approvals"
        to="/approvals"
        n={pending}
        says={plural(pending, 'pending approval')}
      />
      <Card
        icon="warn"
        to="/servers"
        n={undecidedCount}
        says={plural(undecidedCount, 'definition to review', 'definitions to review')}
        detail={undecidedCount > 0 ? 'calls are denied until you accept or refuse them' : ''}
      />
      {fresh.length > 0 && (
        <Card
          icon="servers"
          to="/servers?show=new"
          n={fresh.length}
          says={plural(
            fresh.reduce((sum, server) => sum + server.new, 0),
            'new tool',
          )}
          detail={fresh.map(({ name }) => name).join(', ')}
        />
      )}
      <Card
        icon="servers"
        to="/servers"
        n={failing.length}
        says={
          failing.length === 0
            ? `${plural(list.length, 'server')}, none failing`
            : `${failing.length} of ${plural(list.length, 'server')} failing`
        }
        detail={failing.map(({ name }) => name).join(', ')}
      />
      {gates.length > 0 && (
        <Card
          icon="servers"
          to="/settings"
          n={lost.length}
          says={
            lost.length === 0
              ? `${plural(gates.length, 'gate')}, all live`
              : `${lost.length} of ${plural(gates.length, 'gate')} lost`
          }
          detail={
            lost.length > 0
              ? lost.map(({ name, seenAtMs }) => `${name} since ${minute(seenAtMs)}`).join(', ')
              : 'figures of all gates'
          }
        />
      )}
      {full.length > 0 && (
        <Card
          icon="limited"
          to="/ledger?word=limited"
          n={full.length}
          says={plural(full.length, 'limit nearly full', 'limits nearly full')}
          detail={[...new Set(full.map(({ limit }) => limit))].slice(0, 3).join(', ')}
        />
      )}
      {agents.value?.running === true && (
        <Card
          icon="agents"
          to="/agents"
          n={0}
          says={plural(agents.value.agents.length, 'agent')}
          detail={<Usage period={period} everyMs={REFRESH_MS} />}
        />
      )}
    </ul>
  )
}

function Card({
  icon,
  to,
  n,
  says,
  detail = '',
}: {
  icon: IconName
  to: string
  n: number
  says: string
  detail?: ReactNode
}): JSX.Element {
  return (
    <li>
      <Link to={to} className={`card attention-card${n > 0 ? ' hot' : ''}`}>
        <Icon name={icon} />
        <span>
          <span className="strong">{says}</span>
          {detail !== '' && <span className="muted small attention-detail">{detail}</span>}
        </span>
      </Link>
    </li>
  )
}

function Figures({ data, range }: { data: OverviewData; range: string }): JSX.Element {
  const { sinceMs, untilMs, totals, before, behind, recordsSinceMs } = data
  const hasBefore = OUTCOME_LABELS.some((word) => (before[word] ?? 0) > 0)
  const { times, lines } = useMemo(() => toLines(data), [data])
  const agents = useResource<{ agents: ListedAgentView[] }>('/agents').value?.agents
  const tasks = useMemo(
    () => new Map((agents ?? []).flatMap(({ id, task }) => (task === '' ? [] : [[id, task]]))),
    [agents],
  )
  const section = useSection<HTMLElement>('calls', true)
  const within = { sinceMs: String(sinceMs), untilMs: String(untilMs) }
  return (
    <>
      {behind > 0 && (
        <Notice>
          {count(behind)} of the newest records are being indexed and not counted yet.
        </Notice>
      )}
      {data.notFollowed !== undefined && <NotFollowed why={data.notFollowed} />}
      <section ref={section} className="card" aria-label="Calls by decision">
        <div className="plot-head">
          <h2 className="small-head">Calls</h2>
          {OUTCOME_LABELS.map((word) => (
            <Link
              key={word}
              to={`${pathTo('ledger')}${formatQuery({ word, ...within })}`}
              className="row small plain-link"
            >
              <OutcomeBadge word={word} bare says={word} />{' '}
              <b className="num">{count(totals[word] ?? 0)}</b>
              {hasBefore && <Change now={totals[word] ?? 0} before={before[word] ?? 0} />}
            </Link>
          ))}
          <span className="muted small">
            {hasBefore ? `compared with ${range}` : `no calls in ${range}`}
            {recordsSinceMs !== null &&
              recordsSinceMs > sinceMs &&
              `; records begin ${minute(recordsSinceMs)}`}
          </span>
        </div>
        <Plot
          label="Calls by decision"
          bars
          times={times}
          lines={lines}
          unit={short}
          onSelect={(fromMs, toMs) =>
            go(`/ledger${formatQuery({ sinceMs: fromMs, untilMs: toMs })}`)
          }
        />
      </section>
      <div className="overview-lists">
        <Names title="Reasons" list={data.reasons} to={(code) => ({ code, ...within })} />
        <Names
          title="Principals"
          list={data.principals}
          to={(principal) => ({ principal, ...within })}
        />
        <Names
          title="Agents"
          list={data.agents}
          toName={(id) => tasks.get(id) ?? id}
          to={(agent) => ({ agent, ...within })}
        />
        <Names title="Tools" list={data.tools} to={(tool) => ({ ...splitTool(tool), ...within })} />
      </div>
    </>
  )
}

function Names({
  title,
  list,
  to,
  toName = (name) => name,
}: {
  title: string
  list: readonly CountedName[]
  to: (name: string) => Readonly<Record<string, string>>
  /** As people know it. */
  toName?: (name: string) => string
}): JSX.Element {
  const names = list.map(({ name, calls, counts }) => ({
    name,
    says: toName(name),
    calls,
    words: counts,
  }))
  const toLedger = (name: string) => `${pathTo('ledger')}${formatQuery(to(name))}`
  return <TopList title={title} none="None in this period." list={names} to={toLedger} />
}
