// Overview, the first page: what needs a person now, and what passed and did not over the last hour to
// 30 days, beside the period before. Every figure leads to the calls behind it.

import { type JSX, useMemo } from 'react'
import type {
  ListedAgentView,
  Overview as OverviewData,
  SettingsView,
} from '../../../../src/contract/contract.ts'
import { formatQuery } from '../../api.ts'
import { useResource } from '../../resource.ts'
import { go, pathTo, setQuery, useRoute } from '../../route.ts'
import { mayAct, useMe } from '../../session.ts'
import { Link } from '../../ui/button.tsx'
import { splitTool } from '../../ui/call-counts.ts'
import { CallPlots } from '../../ui/call-plots.tsx'
import { Chips } from '../../ui/fields.tsx'
import { OUTCOME_LABELS, OutcomeBadge } from '../../ui/marks.tsx'
import { NotFollowed, Notice, Page } from '../../ui/page.tsx'
import { Loaded } from '../../ui/panel.tsx'
import { PERIODS, REFRESH_MS } from '../../ui/periods.ts'
import { useSection } from '../../ui/section.ts'
import { GateText } from '../../ui/text.tsx'
import { TopList } from '../../ui/top-list.tsx'
import { count, minute, plural } from '../../ui/words.ts'
import { Change } from './change.tsx'
import { Limits } from './limits.tsx'
import { NeedsYou, States } from './needs-you.tsx'
import { RecentAlerts } from './recent-alerts.tsx'
import './overview.css'

export function Overview(): JSX.Element {
  const { query } = useRoute()
  const range = PERIODS.find(({ value }) => value === query.get('range')) ?? PERIODS[1]
  const figures = useResource<OverviewData>(`/overview?lengthMs=${range.ms}`, REFRESH_MS)
  return (
    <Page
      title="Overview"
      lead="What needs you now, and what passed the gate."
      side={
        <Chips
          label="Period"
          value={range.value}
          onChange={(one) => setQuery({ range: one === '24h' ? '' : one })}
          choices={PERIODS}
        />
      }
    >
      <NotReady />
      <FirstSteps />
      <NeedsYou />
      <States period={range} />
      <RecentAlerts />
      <Loaded of={figures}>{(data) => <Figures data={data} period={range} />}</Loaded>
      <Limits />
    </Page>
  )
}

/** Until a person who may decide has a passkey. */
function FirstSteps(): JSX.Element | null {
  const me = useMe()
  if (me === undefined || me.mayProve !== false || !mayAct(me, 'approver')) return null
  return (
    <Notice kind="warn">
      <span className="strong">Before you can decide on a call:</span>
      <ol className="changes">
        <li>
          <Link to="/settings">Add a passkey</Link>: decisions need one, a PIN does not do.
        </li>
        <li>
          Press <i>Notify me</i> under <Link to="/approvals">Approvals</Link>, so that the browser
          tells you of a held call.
        </li>
      </ol>
    </Notice>
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

/** What would have been asked of a person, and was not. */
function Spared({ spared: { quiet, box, standing } }: Pick<OverviewData, 'spared'>) {
  const parts = [
    quiet > 0 && `${count(quiet)} answered for a coding agent`,
    box > 0 && `${count(box)} run in a box`,
    standing > 0 && `${count(standing)} by a standing approval`,
  ].filter(Boolean)
  return (
    <span className="muted small num">
      {plural(quiet + box + standing, 'question')} spared
      {parts.length > 0 && `: ${parts.join(', ')}`}
    </span>
  )
}

interface FiguresProps {
  readonly data: OverviewData
  readonly period: (typeof PERIODS)[number]
}

function Figures({ data, period }: FiguresProps): JSX.Element {
  const range = period.before
  const { sinceMs, totals, before, behind, recordsSinceMs } = data
  const hasBefore = OUTCOME_LABELS.some((word) => (before[word] ?? 0) > 0)
  const agents = useResource<{ agents: ListedAgentView[] }>(
    data.agents.length > 0 ? '/agents' : undefined,
  ).value?.agents
  const tasks = useMemo(
    () => new Map((agents ?? []).flatMap(({ id, task }) => (task === '' ? [] : [[id, task]]))),
    [agents],
  )
  const section = useSection<HTMLElement>('calls', true)
  const within = { range: period.value }
  return (
    <>
      {behind > 0 && (
        <Notice>
          {count(behind)} of the newest records are being indexed and not counted yet.
        </Notice>
      )}
      {data.notFollowed !== undefined && <NotFollowed why={data.notFollowed} />}
      <section ref={section} className="card" aria-label="Calls by decision">
        <div className="row plot-head">
          <h2 className="small-head">Calls</h2>
          {OUTCOME_LABELS.map((word) => (
            <Link
              key={word}
              to={`${pathTo('ledger')}${formatQuery({ word, ...within })}`}
              className="row small plain-link"
            >
              <OutcomeBadge word={word} bare says={word} />{' '}
              <b className="num">{count(totals[word] ?? 0)}</b>
              {hasBefore && (
                <Change
                  now={totals[word] ?? 0}
                  before={before[word] ?? 0}
                  isBad={word !== 'allow'}
                />
              )}
            </Link>
          ))}
          <span className="muted small">
            {hasBefore ? `compared with ${range}` : `no calls in ${range}`}
            {recordsSinceMs !== null &&
              recordsSinceMs > sinceMs - period.ms &&
              `; records begin ${minute(recordsSinceMs)}`}
          </span>
          <Spared spared={data.spared} />
        </div>
        <CallPlots
          data={data}
          label="Calls by decision"
          height={120}
          onSelect={(fromMs, toMs) =>
            go(`/ledger${formatQuery({ sinceMs: fromMs, untilMs: toMs })}`)
          }
        />
      </section>
      <div className="tiles">
        <TopList title="Reasons" list={data.reasons} toQuery={(code) => ({ code, ...within })} />
        <TopList
          title="Principals"
          list={data.principals}
          toQuery={(principal) => ({ principal, ...within })}
        />
        <TopList
          title="Agents"
          list={data.agents}
          toName={(id) => tasks.get(id) ?? id}
          toQuery={(agent) => ({ agent, ...within })}
        />
        <TopList
          title="Tools"
          list={data.tools}
          toQuery={(tool) => ({ ...splitTool(tool), ...within })}
        />
      </div>
    </>
  )
}
