// One agent: todos as they change, its conversation with calls and their outcomes, files, budgets,
// why it stopped; a slider over its turns shows earlier states. Prompt, stop, fork, export.

import { type JSX, useRef, useState } from 'react'
import type {
  AgentEvent,
  AgentPage,
} from '../../../../packages/sluice/src/admin/contract/contract.ts'
import { download, formatQuery, post } from '../../api.ts'
import { useResource } from '../../resource.ts'
import { go, pathTo } from '../../route.ts'
import { Button, Link } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { TextArea } from '../../ui/fields.tsx'
import { Icon } from '../../ui/icons.tsx'
import { ErrorNotice, Loading, Notice } from '../../ui/page.tsx'
import { SaidAtLength, SaidLine, UntrustedText } from '../../ui/said.tsx'
import { complain, showToast } from '../../ui/toasts.tsx'
import { bytes, clock, count, short } from '../../ui/words.ts'
import { State } from './agents.tsx'
import { Conversation } from './conversation.tsx'

const REFRESH_MS = 700

export function Agent({ id }: { id: string }): JSX.Element {
  const path = `/agents/${encodeURIComponent(id)}`
  const [turn, setTurn] = useState<number>()
  const [file, setFile] = useState<string>()
  const [journal, setJournal] = useState(false)
  const {
    value: fresh,
    error,
    reload,
  } = useResource<AgentPage>(
    `${path}${formatQuery({ turn })}`,
    turn === undefined ? REFRESH_MS : undefined,
  )
  // While another turn is fetched the last one stays: the slider must not disappear under the
  // pointer.
  const last = useRef<AgentPage>(undefined)
  if (fresh !== undefined) last.current = fresh
  const value = fresh ?? last.current
  const now = useResource<AgentPage>(turn === undefined ? undefined : path, REFRESH_MS)
  const turns = (turn === undefined ? value : now.value)?.turns ?? value?.turns ?? 0
  const act = (what: string, body: object, done: string) =>
    post<{ id?: string }>(`${path}/${what}`, body).then((answer) => {
      showToast(done)
      reload()
      return answer
    }, complain)
  const fork = async () => {
    const made = await act('fork', { turn: turn ?? null }, 'forked')
    if (made?.id) go(pathTo('agents', made.id))
  }
  return (
    <div className="page">
      <header className="page-head">
        <Link to="/agents" className="muted">
          Agents
        </Link>
        <h1 className="mono agent-name">{id.slice(0, 18)}</h1>
        {value !== undefined && <State state={value.state} />}
        <span className="spacer" />
        <Button onPress={fork}>
          <Icon name="fork" /> Fork{turn === undefined ? '' : ` from turn ${turn}`}
        </Button>
        <Button onPress={() => download(`${path}/export`, { name: `${id}.json` }).catch(complain)}>
          <Icon name="download" /> Export
        </Button>
        <Button
          kind="refuse"
          onPress={() => act('stop', { reason: 'stopped in the console' }, 'stopped')}
        >
          <Icon name="stop" /> Stop
        </Button>
      </header>
      {error !== undefined && (
        <div className="page-body">
          <ErrorNotice error={error} again={reload} />
        </div>
      )}
      {value === undefined && error === undefined && <Loading />}
      {value !== undefined && (
        <div className="agent-body">
          <div className="stack agent-side">
            <Timeline
              turns={turns}
              turn={turn}
              onTurn={setTurn}
              onJournal={() => setJournal(true)}
            />
            <Todos todos={value.todos} />
            <Budgets agent={value} />
            <Files agent={value} onOpen={setFile} />
          </div>
          <div className="stack agent-main">
            {value.stop !== null && (
              <Notice kind="warn">
                Stopped: {value.stop.reason}
                {value.stop.detail !== '' && (
                  <>
                    , <UntrustedText text={value.stop.detail} />
                  </>
                )}
              </Notice>
            )}
            {value.waitingFor !== null && (
              <Notice kind="warn">
                Waiting: <UntrustedText text={value.waitingFor} />
              </Notice>
            )}
            <Conversation messages={value.messages} />
            {turn === undefined && (
              <Prompt onPrompt={(input) => act('prompt', { input }, 'prompted')} />
            )}
          </div>
        </div>
      )}
      {journal && (
        <Dialog title="Journal" onClose={() => setJournal(false)} side>
          <Journal path={path} />
        </Dialog>
      )}
      {file !== undefined && (
        <FileDialog agent={path} path={file} onClose={() => setFile(undefined)} />
      )}
    </div>
  )
}

function Timeline({
  turns,
  turn,
  onTurn,
  onJournal,
}: {
  turns: number
  turn: number | undefined
  onTurn: (turn: number | undefined) => void
  onJournal: () => void
}): JSX.Element {
  return (
    <section className="card card-body stack" aria-label="Timeline">
      <div className="row spread">
        <h2 className="small-head">Timeline</h2>
        {turn === undefined ? (
          <Button kind="quiet" onPress={onJournal}>
            Journal
          </Button>
        ) : (
          <Button kind="quiet" onPress={() => onTurn(undefined)}>
            Back to now
          </Button>
        )}
      </div>
      <input
        type="range"
        className="slider"
        min={0}
        max={Math.max(turns, 1)}
        value={turn ?? turns}
        aria-label="Turn"
        aria-valuetext={turn === undefined ? `now, turn ${turns}` : `turn ${turn} of ${turns}`}
        onChange={(event) => {
          const to = Number(event.target.value)
          onTurn(to >= turns ? undefined : to)
        }}
      />
      <p className="muted small num">
        {turn === undefined
          ? `Now: ${count(turns)} turns`
          : `As it was after turn ${turn} of ${turns}`}
      </p>
    </section>
  )
}

const TODO = {
  pending: ['todo', 'to do'],
  in_progress: ['doing', 'doing'],
  completed: ['allow', 'done'],
  cancelled: ['hide', 'dropped'],
} as const

function Todos({ todos }: { todos: AgentPage['todos'] }): JSX.Element {
  const done = todos.filter(({ status }) => status === 'completed').length
  return (
    <section className="card card-body stack" aria-label="Todos">
      <div className="row spread">
        <h2 className="small-head">Todos</h2>
        <span className="muted small num">
          {done} of {todos.length}
        </span>
      </div>
      {todos.length === 0 && <p className="muted small">none yet</p>}
      <ul className="stack todo-list">
        {todos.map(({ id, content, status }) => (
          <li key={id} className={`todo ${status}`} data-status={status}>
            <Icon name={TODO[status][0]} />
            <UntrustedText text={content} />
            <span className="tag">{TODO[status][1]}</span>
          </li>
        ))}
      </ul>
    </section>
  )
}

function Budgets({ agent }: { agent: AgentPage }): JSX.Element {
  return (
    <section className="card card-body stack" aria-label="Budgets">
      <h2 className="small-head">Budget used</h2>
      {agent.budgets.map(({ name, used, max }) => (
        <div key={name} className="budget">
          <span>{name}</span>
          <span className="num muted">
            {short(used)}
            {max === null ? '' : ` of ${short(max)}`}
          </span>
          {max !== null && (
            <meter min={0} max={max} high={max * 0.8} optimum={0} value={used} aria-label={name} />
          )}
        </div>
      ))}
      <p className="muted small">
        owner <SaidLine text={agent.owner} /> · model <SaidLine text={agent.model} />
      </p>
      {agent.grants.length > 0 && (
        <p className="muted small">
          may call <UntrustedText text={agent.grants.join(', ')} className="mono" />
        </p>
      )}
    </section>
  )
}

function Files({
  agent,
  onOpen,
}: {
  agent: AgentPage
  onOpen: (path: string) => void
}): JSX.Element {
  return (
    <section className="card card-body stack" aria-label="Files">
      <h2 className="small-head">Files</h2>
      {agent.fileList.length === 0 && <p className="muted small">none</p>}
      <ul>
        {agent.fileList.map(({ path, bytes: size }) => (
          <li key={path}>
            <button type="button" className="file-row" onClick={() => onOpen(path)}>
              <Icon name="file" />
              <SaidLine text={path} className="mono" />
              <span className="muted small num">{bytes(size)}</span>
            </button>
          </li>
        ))}
      </ul>
    </section>
  )
}

function FileDialog({
  agent,
  path,
  onClose,
}: {
  agent: string
  path: string
  onClose: () => void
}): JSX.Element {
  const { value, error } = useResource<{ isText: boolean; text: string }>(
    `${agent}/file${formatQuery({ path })}`,
  )
  return (
    <Dialog title={<SaidLine text={path} className="mono" />} onClose={onClose} side>
      {error !== undefined && <ErrorNotice error={error} />}
      {value?.isText === false && <Notice>It is no text; this is base64.</Notice>}
      {value !== undefined && <SaidAtLength text={value.text} code />}
    </Dialog>
  )
}

function Prompt({ onPrompt }: { onPrompt: (input: string) => void }): JSX.Element {
  const [input, setInput] = useState('')
  const send = () => {
    if (input.trim() === '') return
    onPrompt(input)
    setInput('')
  }
  return (
    <div className="card card-body stack">
      <TextArea
        label="Give it something to do"
        value={input}
        onChange={setInput}
        rows={2}
        placeholder="What should it do next?"
      />
      <div>
        <Button kind="primary" onPress={send}>
          Prompt
        </Button>
      </div>
    </div>
  )
}

function Journal({ path }: { path: string }): JSX.Element {
  const { value } = useResource<{ events: AgentEvent[] }>(`${path}/events`)
  return (
    <ol className="stack small">
      {(value?.events ?? []).map((event) => (
        <li key={event.seq} className="row">
          <span className="num muted">{clock(event.atMs)}</span>
          <span className="tag">{event.kind}</span>
          <SaidLine text={event.says} className="muted" />
        </li>
      ))}
    </ol>
  )
}
