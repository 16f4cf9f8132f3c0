// One agent: its conversation with times, tokens and calls, todos, files and budgets, now or as it was
// after a turn; the turn and the open file are in the address. Prompt, pause, stop, fork, export.

import { listObjects, parseObject } from '@sluice/policy/values/json'
import { type JSX, type RefObject, useEffect, useRef, useState } from 'react'
import type {
  AgentEvent,
  AgentPage,
  AgentTurns,
  CallAddress,
} from '../../../../src/contract/contract.ts'
import { download, formatQuery, post } from '../../api.ts'
import { FreezeButton } from '../../freeze.tsx'
import { useOpenTitle } from '../../page-title.ts'
import { useResource } from '../../resource.ts'
import { go, pathTo, setQuery, useRoute } from '../../route.ts'
import { useMe } from '../../session.ts'
import { listen } from '../../stream.ts'
import { AskButton, Form, type FormField, type FormValues } from '../../ui/ask.tsx'
import { Button, Link } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Icon } from '../../ui/icons.tsx'
import { ErrorNotice, type ErrorNoticeProps, Loading, Notice } from '../../ui/page.tsx'
import { TextLine, UntrustedText } from '../../ui/text.tsx'
import { complain, showToast } from '../../ui/toasts.tsx'
import { clock } from '../../ui/words.ts'
import { useInbox } from '../approvals/inbox.ts'
import { useOpenCall } from '../ledger/explained.tsx'
import { Budgets, Files, Timeline, Todos } from './agent-side.tsx'
import { State } from './agents.tsx'
import { Comparison } from './comparison.tsx'
import { Conversation } from './conversation.tsx'
import { FileDialog } from './file.tsx'
import { Schedules } from './schedules.tsx'

const REFRESH_MS = 2_000
/** A call is on record a moment after it was made. */
const TURNS_REFRESH_MS = 5_000

/** A caller who may not see the agent is not told to try again. */
function AgentFault({ error, again }: ErrorNoticeProps): JSX.Element {
  return (
    <div className="scroll page-body">
      <ErrorNotice error={error} {...(error.status === 403 ? {} : { again })} />
    </div>
  )
}

export function Agent({ id }: { id: string }): JSX.Element {
  const path = `/agents/${encodeURIComponent(id)}`
  const { query } = useRoute()
  const turn = query.has('turn') ? Number(query.get('turn')) : undefined
  const file = query.get('file')
  const [journal, setJournal] = useState(false)
  const { open: openCall, drawer } = useOpenCall()
  const { now, value, error } = useAgent(path, turn)
  const turns = useResource<AgentTurns>(
    now.value === undefined ? undefined : `${path}/turns`,
    TURNS_REFRESH_MS,
  )
  const count = now.value?.turns ?? value?.turns ?? 0
  const modelText = useModelText(path, now.value !== undefined, () => {
    now.reload()
    turns.reload()
  })
  const act: Act = (what, body, done) =>
    post<{ id?: string }>(`${path}/${what}`, body).then((answer) => {
      showToast(done)
      now.reload()
      return answer
    })
  const { name, forkOf, messages } = now.value ?? value ?? {}
  const task = name || messages?.find(({ role }) => role === 'user')?.text.split('\n')[0]
  useOpenTitle(task ?? id.slice(0, 18))
  const setTurn = (to: number | undefined) => setQuery({ turn: to === undefined ? '' : String(to) })
  return (
    <div className="page">
      <header className="row page-head">
        <Link to="/agents" className="muted">
          Agents
        </Link>
        <Title id={id} task={task} forkOf={forkOf ?? null} />
        {value !== undefined && <State state={value.state} />}
        <span className="spacer" />
        {now.value !== undefined && (
          <>
            <FreezeButton target={{ scope: 'agent', id }} />
            <Fork turn={turn} turns={count} act={act} />
            <Export id={id} path={path} />
            <Running agent={now.value} act={act} />
          </>
        )}
      </header>
      {error !== undefined && <AgentFault error={error} again={now.reload} />}
      {value === undefined && error === undefined && <Loading />}
      {value !== undefined && (
        <div className="split agent-body">
          <div className="stack scroll">
            <Timeline
              turns={count}
              turn={turn}
              onTurn={setTurn}
              onJournal={() => setJournal(true)}
            />
            <StatePanels path={path} agent={value} />
          </div>
          <Main
            agent={value}
            isPast={turn !== undefined}
            turns={turns.value}
            modelText={modelText}
            onCall={openCall}
            act={act}
          />
        </div>
      )}
      {journal && (
        <Dialog title="Journal" onClose={() => setJournal(false)} side>
          <Journal path={path} />
        </Dialog>
      )}
      {file !== null && (
        <FileDialog
          agent={path}
          path={file}
          turn={turn}
          turns={count}
          onClose={() => setQuery({ file: '' })}
        />
      )}
      {drawer}
    </div>
  )
}

interface MainProps {
  readonly agent: AgentPage
  /** The agent is shown as it was at an earlier turn. */
  readonly isPast: boolean
  /** Undefined until they are here. */
  readonly turns: AgentTurns | undefined
  /** What the model says while it answers. */
  readonly modelText: string
  readonly onCall: (call: CallAddress) => void
  readonly act: Act
}

/** The conversation, what the agent waits for, and where it is given more to do. */
function Main({ agent, isPast, turns, modelText, onCall, act }: MainProps): JSX.Element {
  const { state, messages } = agent
  const place = useNewest(messages.length)
  return (
    <div className="stack scroll" ref={place}>
      <Standing agent={agent} isPast={isPast} />
      {!isPast && state === 'idle' && <LastFailure failure={turns?.failure} />}
      <Conversation messages={messages} turns={turns?.turns ?? []} onCall={onCall} />
      {!isPast && <Answering isRunning={state === 'running'} text={modelText} />}
      {!isPast && state !== 'stopped' && <Prompt act={act} />}
    </div>
  )
}

/** Below the slider: all of the turn that is shown, and what is as it is now. */
function StatePanels({ path, agent }: { path: string; agent: AgentPage }): JSX.Element {
  const { id, forkOf } = agent
  return (
    <>
      {forkOf !== null && <Comparison path={path} id={id} origin={forkOf.id} />}
      <Schedules path={path} />
      <Todos todos={agent.todos} />
      <Budgets agent={agent} />
      <Files agent={agent} onOpen={(one) => setQuery({ file: one }, 'push')} />
    </>
  )
}

/** The agent as it is, and as it was at a turn, if one is chosen. */
function useAgent(path: string, turn: number | undefined) {
  const past = useResource<AgentPage>(
    turn === undefined ? undefined : `${path}${formatQuery({ turn })}`,
  )
  const now = useResource<AgentPage>(path, REFRESH_MS)
  // While another turn is fetched the last one stays: the slider must not disappear under the
  // pointer.
  const last = useRef<AgentPage>(undefined)
  const fresh = turn === undefined ? now.value : past.value
  if (fresh !== undefined) last.current = fresh
  return { now, value: fresh ?? last.current, error: now.error ?? past.error }
}

function Export({ id, path }: { id: string; path: string }): JSX.Element {
  return (
    <Button onPress={() => download(`${path}/export`, { name: `${id}.json` }).catch(complain)}>
      <Icon name="download" /> Export
    </Button>
  )
}

function LastFailure({ failure }: { failure: AgentTurns['failure'] | undefined }) {
  if (failure == null) return null
  return (
    <Notice kind="bad">
      The last run failed at {clock(failure.atMs)}, and its prompt was not answered:{' '}
      <UntrustedText text={failure.message} />
    </Notice>
  )
}

interface AnsweringProps {
  readonly isRunning: boolean
  /** Of the model, as far as it has come. */
  readonly text: string
}

function Answering({ isRunning, text }: AnsweringProps): JSX.Element | null {
  if (text !== '')
    return (
      <div
        className="card card-body stack message-by"
        role="status"
        aria-label="The model is answering"
      >
        <UntrustedText text={text} />
      </div>
    )
  if (!isRunning) return null
  return (
    <p className="muted" role="status">
      Waiting for the model or a tool…
    </p>
  )
}

interface TitleProps extends Pick<AgentPage, 'id' | 'forkOf'> {
  /** Its name, or what it was told first. */
  readonly task: string | undefined
}

function Title({ id, task, forkOf }: TitleProps): JSX.Element {
  const short = id.slice(0, 18)
  return (
    <div className="agent-title">
      <h1 className={task === undefined ? 'mono' : undefined}>
        {task === undefined ? short : <TextLine text={task} />}
      </h1>
      <span className="row small">
        {task !== undefined && <span className="mono muted">{short}</span>}
        <Link to={`/ledger${formatQuery({ agent: id, view: 'timeline' })}`}>
          Its calls in the ledger
        </Link>
        {forkOf !== null && (
          <Link to={`${pathTo('agents', forkOf.id)}?turn=${forkOf.turn}`}>
            Fork of {forkOf.id.slice(0, 18)} at turn {forkOf.turn}
          </Link>
        )}
      </span>
    </div>
  )
}

/** Opens at the newest message and stays there while more come, unless the person has scrolled up. */
function useNewest(messages: number): RefObject<HTMLDivElement | null> {
  const place = useRef<HTMLDivElement>(null)
  const seen = useRef(0)
  useEffect(() => {
    const element = place.current
    if (element === null || messages === 0) return
    const leftPx = element.scrollHeight - element.scrollTop - element.clientHeight
    const isFirst = seen.current === 0
    seen.current = messages
    if (isFirst || leftPx < NEAR_END_PX) element.scrollTop = element.scrollHeight
    // On a phone the page scrolls, and not the conversation.
    if (isFirst) element.lastElementChild?.scrollIntoView({ block: 'end' })
  }, [messages])
  return place
}

/** What came since is at most this high. */
const NEAR_END_PX = 600

/** What the model says while it answers; `onStep` is called when something has happened. */
function useModelText(path: string, isOn: boolean, onStep: () => void): string {
  const [text, setText] = useState('')
  const step = useRef(onStep)
  step.current = onStep
  useEffect(() => {
    if (!isOn) return
    return listen(`${path}/watch`, {
      keeps: 'while seen',
      onEvent: ({ event, data }) => {
        if (event === 'text') setText((before) => before + (JSON.parse(data) as string))
        if (event !== 'step') return
        setText('')
        step.current()
      },
    })
  }, [path, isOn])
  return text
}

/** Why it stopped, what it waits for, or that it is paused. */
function Standing({ agent, isPast }: { agent: AgentPage; isPast: boolean }): JSX.Element {
  const { pending } = useInbox()
  const mine = isPast ? [] : pending.filter(({ agent: id }) => id === agent.id)
  return (
    <>
      {agent.stop !== null && (
        <Notice kind="warn">
          Stopped: <UntrustedText text={describeStop(agent.stop)} />
        </Notice>
      )}
      {agent.state === 'paused' && <Notice kind="warn">Paused: nothing is sent for it.</Notice>}
      {mine.map(({ id, server, name }) => (
        <Notice key={id} kind="warn">
          Waiting for approval of{' '}
          <span className="mono">
            {server}/{name}
          </span>
          : <Link to={pathTo('approvals', id)}>open the request</Link>
        </Notice>
      ))}
      {agent.waitingFor !== null && mine.length === 0 && (
        <Notice kind="warn">
          {isPast ? 'Was waiting' : 'Waiting'}: <UntrustedText text={agent.waitingFor} />
        </Notice>
      )}
    </>
  )
}

/** A person's own words need no reason beside them. */
function describeStop({ reason, detail }: NonNullable<AgentPage['stop']>): string {
  if (detail === '') return reason.replaceAll('_', ' ')
  return reason === 'stopped' ? detail : `${reason.replaceAll('_', ' ')}, ${detail}`
}

type Act = (what: string, body: object | undefined, done: string) => Promise<{ id?: string }>

interface ForkProps {
  readonly turn: number | undefined
  readonly turns: number
  readonly act: Act
}

/** Says what a fork is before it makes one. */
function Fork({ turn, turns, act }: ForkProps): JSX.Element {
  const at = turn ?? turns
  const fork = async (values: FormValues) => {
    const { id } = await act('fork', { turn: turn ?? null, ...values }, 'forked')
    if (id) go(pathTo('agents', id))
  }
  return (
    <AskButton
      says="Fork…"
      title={`Fork at turn ${at}`}
      fields={[
        { name: 'name', label: 'Name', placeholder: 'What is different about it' },
        { name: 'model', label: 'Model', placeholder: 'The same; or another, as provider:model' },
      ]}
      confirm={`Fork at turn ${at}`}
      icon="fork"
      onSubmit={fork}
    >
      A new agent begins with the conversation, files and todos of this one as they were after turn{' '}
      {at}. This one goes on unchanged.
    </AskButton>
  )
}

/** Pause, resume and stop; stopping asks first. */
function Running({ agent, act }: { agent: AgentPage; act: Act }): JSX.Element {
  const me = useMe()
  const stop = ({ reason }: FormValues) => {
    const why = `by ${me?.name ?? 'a person'} from the console`
    return act('stop', { reason: reason === '' ? why : `${why}: ${reason}` }, 'stopped')
  }
  if (agent.state === 'stopped' || agent.state === 'paused')
    return (
      <Button onPress={() => act('resume', undefined, 'resumed').catch(complain)}>
        <Icon name="play" /> Resume
      </Button>
    )
  return (
    <>
      <Button
        onPress={() => act('pause', { reason: 'paused in the console' }, 'paused').catch(complain)}
      >
        <Icon name="pause" /> Pause
      </Button>
      <AskButton
        says="Stop…"
        button="refuse"
        title="Stop this agent?"
        fields={[{ name: 'reason', label: 'Reason' }]}
        confirm="Stop it"
        icon="stop"
        kind="refuse"
        onSubmit={stop}
      >
        What it is doing is cut off. Resume goes on from there; Pause lets calls end first.
      </AskButton>
    </>
  )
}

function Prompt({ act }: { act: Act }): JSX.Element {
  return (
    <div className="card card-body stack">
      <Form
        fields={[PROMPT]}
        findFault={({ input = '' }) => (input.trim() === '' ? '' : undefined)}
        confirm="Prompt"
        clears
        onSubmit={(values) => act('prompt', values, 'prompted')}
      />
    </div>
  )
}

const PROMPT: FormField = {
  name: 'input',
  label: 'Give it something to do',
  type: 'area',
  rows: 2,
  placeholder: 'What should it do next? (Ctrl+Enter sends)',
}

function Journal({ path }: { path: string }): JSX.Element {
  const { value } = useResource<{ events: AgentEvent[] }>(`${path}/events`)
  return (
    <ol className="stack small">
      {(value?.events ?? []).map((event) => (
        <li key={event.seq}>
          <details>
            <summary className="row line">
              <span className="num muted">{clock(event.atMs)}</span>
              <span className="tag">{event.kind}</span>
              <TextLine text={summariseEvent(event.says)} />
            </summary>
            <UntrustedText text={event.says} className="mono" />
          </details>
        </li>
      ))}
    </ol>
  )
}

/** What was said, sent or called; what was recorded is below it, whole. */
function summariseEvent(says: string): string {
  // Undefined if it is cut off in the middle.
  const event = parseObject(says) ?? {}
  const { text, input, content, message, reason, detail, name, model, toolCalls } = event
  const calls = listObjects(toolCalls).map((call) => call.name)
  const parts = [text, name, input, content, message, reason, detail, model]
  const shown = [...parts, calls.length === 0 ? '' : `calls ${calls.join(', ')}`]
  return shown.filter((part) => typeof part === 'string' && part !== '').join(' · ') || says
}
