// Agents: the list of all, and one at a time with all its state.

import { type JSX, useRef } from 'react'
import type { ListedAgentView } from '../../../../packages/sluice/src/admin/contract/contract.ts'
import { post } from '../../api.ts'
import { useResource } from '../../resource.ts'
import { go, pathTo, useRoute } from '../../route.ts'
import { useMe } from '../../session.ts'
import { Button, Link } from '../../ui/button.tsx'
import { Icon } from '../../ui/icons.tsx'
import { useNow } from '../../ui/now.ts'
import { Empty, ErrorNotice, Loading, PageHead } from '../../ui/page.tsx'
import { TextLine } from '../../ui/text.tsx'
import { complain, showToast } from '../../ui/toasts.tsx'
import { ago, count, short } from '../../ui/words.ts'
import { Agent } from './agent.tsx'
import './agents.css'

const REFRESH_MS = 2_000

export function Agents(): JSX.Element {
  const { rest } = useRoute()
  return rest[0] === undefined ? <List /> : <Agent key={rest[0]} id={rest[0]} />
}

function List(): JSX.Element {
  const { value, error, reload } = useResource<{ running: boolean; agents: ListedAgentView[] }>(
    '/agents',
    REFRESH_MS,
  )
  const now = useNow(5_000)
  return (
    <div className="page">
      <PageHead
        title="Agents"
        lead="Agents in a sandbox of their own, whose only way out is this gate."
      >
        {value?.running === true && <Import onDone={reload} />}
      </PageHead>
      <div className="page-body">
        {error !== undefined && <ErrorNotice error={error} again={reload} />}
        {value === undefined && error === undefined && <Loading />}
        {value !== undefined && value.agents.length === 0 && (
          <Empty icon="agents" title={value.running ? 'No agents yet' : 'This gate runs no agents'}>
            {value.running
              ? 'A client makes one with wasm_agent_create.'
              : 'Add `agents: { builtin: agents }` under `servers:` in sluice.yaml.'}
          </Empty>
        )}
        {value !== undefined && value.agents.length > 0 && (
          <div className="card table-wrap">
            <table className="table">
              <thead>
                <tr>
                  <th>Agent</th>
                  <th>Task</th>
                  <th>State</th>
                  <th>Last activity</th>
                  <th className="right">Turns</th>
                  <th className="right">Tokens</th>
                  <th className="right">Cost</th>
                  <th>Owner</th>
                  <th>Model</th>
                  <th>Created</th>
                </tr>
              </thead>
              <tbody>
                {value.agents.map((agent) => (
                  <tr key={agent.id}>
                    <td>
                      {agent.isOwn ? (
                        <Link to={pathTo('agents', agent.id)} className="mono">
                          {agent.id.slice(0, 18)}
                        </Link>
                      ) : (
                        <span className="mono" title="Its owner and admins may open it">
                          {agent.id.slice(0, 18)}
                        </span>
                      )}
                      {agent.template !== null && (
                        <span className="tag">
                          <TextLine text={agent.template} />
                        </span>
                      )}
                      {agent.familyOf !== null && (
                        <div className="muted small">
                          family of <span className="mono">{agent.familyOf.slice(0, 18)}</span>
                        </div>
                      )}
                    </td>
                    <td className="agent-task">
                      <TextLine text={agent.task} />
                    </td>
                    <td>
                      <State state={agent.state} />
                    </td>
                    <td className="muted">{ago(agent.lastMs, now)}</td>
                    <td className="right num">{count(agent.turns)}</td>
                    <td className="right num">{short(agent.tokens)}</td>
                    <td className="right num">
                      {agent.cost === null ? '' : agent.cost.toFixed(2)}
                    </td>
                    <td>
                      <TextLine text={agent.owner} />
                    </td>
                    <td className="muted">
                      <TextLine text={agent.model} />
                    </td>
                    <td className="muted">{ago(agent.createdAtMs, now)}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        )}
      </div>
    </div>
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
  const input = useRef<HTMLInputElement>(null)
  const take = async (file: File | undefined) => {
    if (file === undefined) return
    try {
      const owner = me?.owns[0] ?? 'local'
      const agent = JSON.parse(await file.text()) as unknown
      const { id } = await post<{ id: string }>('/agents', { owner, agent })
      showToast(`brought in for ${owner}`)
      onDone()
      go(pathTo('agents', id))
    } catch (error) {
      complain(error)
    }
  }
  return (
    <>
      <input
        ref={input}
        type="file"
        accept="application/json"
        className="visually-hidden"
        aria-label="An exported agent"
        tabIndex={-1}
        onChange={(event) => void take(event.target.files?.[0])}
      />
      <Button onPress={() => input.current?.click()}>
        <Icon name="upload" /> Import
      </Button>
    </>
  )
}
