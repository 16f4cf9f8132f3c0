// Agents: the list of all, and one at a time with all its state.

import type { JSX } from 'react'
import { FileTrigger } from 'react-aria-components/FileTrigger'
import type { ListedAgentView } from '../../../../src/contract/contract.ts'
import { post } from '../../api.ts'
import { useResource } from '../../resource.ts'
import { go, pathTo, useRoute } from '../../route.ts'
import { useMe } from '../../session.ts'
import { Button, Link } from '../../ui/button.tsx'
import { Icon } from '../../ui/icons.tsx'
import { useNow } from '../../ui/now.ts'
import { Empty, Page } from '../../ui/page.tsx'
import { type DataColumn, DataTable, Loaded } from '../../ui/panel.tsx'
import { TextLine } from '../../ui/text.tsx'
import { complain, showToast } from '../../ui/toasts.tsx'
import { ago, count, money, short } from '../../ui/words.ts'
import { Agent } from './agent.tsx'
import { NewAgent } from './new-agent.tsx'
import './agents.css'

const REFRESH_MS = 2_000

export function Agents(): JSX.Element {
  const { rest } = useRoute()
  return rest[0] === undefined ? <List /> : <Agent key={rest[0]} id={rest[0]} />
}

function List(): JSX.Element {
  const agents = useResource<{ running: boolean; agents: ListedAgentView[] }>('/agents', REFRESH_MS)
  const now = useNow(5_000)
  return (
    <Page
      title="Agents"
      lead="Agents in a sandbox of their own, whose only way out is this gate."
      side={
        agents.value?.running === true && (
          <>
            <Import onDone={agents.reload} />
            <NewAgent onDone={agents.reload} />
          </>
        )
      }
    >
      <Loaded of={agents}>
        {({ running, agents: list }) =>
          list.length === 0 ? (
            <Empty icon="agents" title={running ? 'No agents yet' : 'This gate runs no agents'}>
              {running
                ? 'Make one with New agent; a client makes one with wasm_agent_create.'
                : 'Add `agents: { builtin: agents }` under `servers:` in sluice.yaml.'}
            </Empty>
          ) : (
            <div className="card">
              <DataTable
                label="Agents"
                columns={listColumns(now)}
                rows={list}
                keyOf={({ id }) => id}
              />
            </div>
          )
        }
      </Loaded>
    </Page>
  )
}

function listColumns(now: number): DataColumn<ListedAgentView>[] {
  return [
    { head: 'Task', className: 'agent-task', cell: (agent) => <Task agent={agent} /> },
    { head: 'State', cell: ({ state }) => <State state={state} /> },
    { head: 'Last activity', className: 'muted', cell: ({ lastMs }) => ago(lastMs, now) },
    { head: 'Turns', className: 'right num', cell: ({ turns }) => count(turns) },
    { head: 'Model tokens', className: 'right num', cell: ({ tokens }) => short(tokens) },
    { head: 'Cost', className: 'right num', cell: ({ cost }) => cost !== null && money(cost) },
    { head: 'Owner', cell: ({ owner }) => <TextLine text={owner} /> },
    { head: 'Model', className: 'muted', cell: ({ model }) => <TextLine text={model} /> },
    { head: 'Created', className: 'muted', cell: ({ createdAtMs }) => ago(createdAtMs, now) },
  ]
}

/** Its name, or what it was told first; its id below. */
function Task({ agent }: { agent: ListedAgentView }): JSX.Element {
  const { id, isOwn, template, familyOf, forkOf } = agent
  const title = agent.name || agent.task
  const name = (
    <>
      {title !== '' && <TextLine text={title} className="strong" />}
      <span className="mono small">{id.slice(0, 18)}</span>
    </>
  )
  return (
    <>
      {isOwn ? (
        <Link to={pathTo('agents', id)}>{name}</Link>
      ) : (
        <span title="Its owner and admins may open it">{name}</span>
      )}{' '}
      {template !== null && <TextLine text={template} className="tag" />}
      {familyOf !== null && (
        <span className="small muted">
          {forkOf === null
            ? `family of ${familyOf.slice(0, 18)}`
            : `fork of ${forkOf.id.slice(0, 18)} at turn ${forkOf.turn}`}
        </span>
      )}
    </>
  )
}

export function State({ state }: { state: string }): JSX.Element {
  const dots: Record<string, string> = {
    running: 'up',
    waiting: 'starting',
    paused: 'starting',
    stopped: 'failing',
  }
  return (
    <span className="row small">
      <span className={`dot ${dots[state] ?? ''}`} aria-hidden="true" /> {state}
    </span>
  )
}

function Import({ onDone }: { onDone: () => void }): JSX.Element {
  const me = useMe()
  const take = async (files: FileList | null) => {
    const owner = me?.owns[0] ?? 'local'
    const agent = JSON.parse((await files?.[0]?.text()) ?? '')
    const { id } = await post<{ id: string }>('/agents/import', { owner, agent })
    showToast(`brought in for ${owner}`)
    onDone()
    go(pathTo('agents', id))
  }
  return (
    <FileTrigger
      acceptedFileTypes={['application/json']}
      onSelect={(files) => void take(files).catch(complain)}
    >
      <Button>
        <Icon name="upload" /> Import
      </Button>
    </FileTrigger>
  )
}
