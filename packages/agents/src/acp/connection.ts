// One editor that speaks the Agent Client Protocol, version 1, as a client of the agents. A session is an agent, a
// prompt is `wasm_agent_prompt`, and what the agent does is told from its journal, so that a session which is loaded
// looks as it did live. The connection approves nothing and lends the agent nothing of the editor: no files, no
// terminal, no MCP servers. Used by `sluice agents acp`.

import { attempt } from '@sluice/policy/structures/attempt'
import { isObject, type JsonObject } from '@sluice/policy/values/json'
import { orAborted } from '../shared/or-aborted.ts'
import { AcpError } from './acp-error.ts'
import { readPrompt } from './read-prompt.ts'
import { agentMessage, RunUpdates, type ShownEvent } from './run-updates.ts'
import type { PlanEntry, SessionUpdate, StopReason } from './session-update.ts'

/** The only version that is spoken; version 2 is a draft. */
const PROTOCOL_VERSION = 1

/** What happens while a call of a tool goes on. */
export interface AcpWatch {
  /** The call is cancelled. */
  readonly signal: AbortSignal
  /** Something was added to the journal. */
  onProgress(message: string): void
  /** Words of the model as they come. */
  onText(text: string): void
}

/** The tools of the agents' MCP server, in this process or at a gate. */
export interface AcpAgents {
  /** `typed`: the user's own words in the call, if there are any. Rejects with AgentCallError, or with another error
   * if the agents cannot be reached. */
  call<View>(
    tool: string,
    args: object,
    watch?: AcpWatch | undefined,
    typed?: string | undefined,
  ): Promise<View>
}

/** The agents refused a call. The message ends with the code. */
export class AgentCallError extends Error {
  /** Such as `AGENT_NOT_FOUND`. */
  readonly code: string

  constructor(code: string, message: string) {
    super(message)
    this.name = 'AgentCallError'
    this.code = code
  }
}

export interface AcpConnectionOptions {
  readonly agents: AcpAgents
  /** The arguments of `wasm_agent_create` for each new session. */
  readonly create: object
  /** The version of Sluice, for the editor's log. */
  readonly version: string
  /** Sends one message of JSON-RPC. */
  readonly send: (message: object) => void
}

interface HistoryPage {
  readonly events: readonly ShownEvent[]
  readonly nextCursor: number | null
  readonly lastSeq: number
}

interface TodosPage {
  readonly todos: readonly { readonly content: string; readonly status: string }[]
}

interface AgentsPage {
  readonly agents: readonly {
    readonly id: string
    readonly model: string
    readonly createdAt: string
  }[]
  readonly nextCursor: string | null
}

/** The answer to a prompt; without `stop` the run goes on. */
interface PromptPage {
  readonly stop?: { readonly reason: string; readonly detail: string }
  readonly runId?: string
}

/** A run that an editor waits for. */
interface Running {
  readonly cancel: AbortController
}

const STOPS: Readonly<Record<string, StopReason>> = {
  answered: 'end_turn',
  max_tokens: 'max_tokens',
  max_cost: 'max_tokens',
  max_turns: 'max_turn_requests',
  run_max_turns: 'max_turn_requests',
  max_tool_calls: 'max_turn_requests',
  run_time: 'max_turn_requests',
  no_progress: 'max_turn_requests',
  cancelled: 'cancelled',
}

export class AcpConnection {
  readonly #agents: AcpAgents
  readonly #create: object
  readonly #version: string
  readonly #send: (message: object) => void
  /** The run that each session has under way. */
  readonly #running = new Map<string, Running>()

  constructor({ agents, create, version, send }: AcpConnectionOptions) {
    this.#agents = agents
    this.#create = create
    this.#version = version
    this.#send = (message) => send({ jsonrpc: '2.0', ...message })
  }

  /** Takes one line of the editor, and answers it if it is a request. Never rejects. */
  async receive(line: string): Promise<void> {
    const message: unknown = attempt(() => JSON.parse(line))
    if (!isObject(message)) return this.#refuse(null, new AcpError('notJson', 'not a JSON object'))
    const { id, method, params } = message
    // An answer: nothing was asked of the editor.
    if (method === undefined) return
    try {
      const result = await this.#answer(String(method), isObject(params) ? params : {})
      if (id !== undefined) this.#send({ id, result })
      if (method === 'session/new') this.#nameServers(result, params)
    } catch (error) {
      if (id !== undefined) this.#refuse(id, error as Error)
    }
  }

  #refuse(id: unknown, error: Error): void {
    const { code, message } = toAcpError(error)
    this.#send({ id, error: { code, message } })
  }

  async #answer(method: string, params: JsonObject): Promise<object> {
    switch (method) {
      case 'initialize':
        return this.#describe()
      case 'session/new':
        return this.#newSession()
      case 'session/list':
        return this.#list(params)
      case 'session/load':
        return this.#load(sessionOf(params))
      case 'session/prompt':
        return this.#prompt(sessionOf(params), params.prompt)
      case 'session/cancel':
      case 'session/close':
        this.#running.get(sessionOf(params))?.cancel.abort()
        return {}
      default:
        throw new AcpError('unknownMethod', `there is no method \`${method}\``)
    }
  }

  #describe(): object {
    return {
      protocolVersion: PROTOCOL_VERSION,
      agentInfo: { name: 'sluice', title: 'Sluice agents', version: this.#version },
      agentCapabilities: {
        loadSession: true,
        promptCapabilities: { embeddedContext: true },
        sessionCapabilities: { list: {}, close: {} },
      },
      authMethods: [],
    }
  }

  async #newSession(): Promise<{ readonly sessionId: string }> {
    const { agent } = await this.#agents.call<{ agent: { id: string } }>(
      'wasm_agent_create',
      this.#create,
    )
    return { sessionId: agent.id }
  }

  /** Editors pass their MCP servers to every agent; these agents use only what the gate lets them. */
  #nameServers(session: object, params: unknown): void {
    const servers = isObject(params) && Array.isArray(params.mcpServers) ? params.mcpServers : []
    const names = servers.filter(isObject).map(({ name }) => `\`${String(name)}\``)
    if (names.length === 0) return
    const { sessionId } = session as { sessionId: string }
    const text = `The editor's MCP servers are not used (${names.join(', ')}): this agent has the tools that \`--tools\` gave it, through the gate.`
    this.#update(sessionId, agentMessage(text))
  }

  async #list({ cursor, cwd }: JsonObject): Promise<object> {
    const page = await this.#agents.call<AgentsPage>(
      'wasm_agent_list',
      typeof cursor === 'string' ? { cursor } : {},
    )
    const sessions = page.agents.map(({ id, model, createdAt }) => ({
      sessionId: id,
      // Agents have no folder; the protocol demands one, and editors list only sessions of theirs.
      cwd: typeof cwd === 'string' ? cwd : '/',
      title: model,
      updatedAt: createdAt,
    }))
    return page.nextCursor === null ? { sessions } : { sessions, nextCursor: page.nextCursor }
  }

  /** Tells the whole history, also what was summed up since, and where it goes on: the run is not waited for. */
  async #load(sessionId: string): Promise<object> {
    const updates = new RunUpdates({ tools: await this.#toolsOf(sessionId) })
    for (let from: number | null = 1; from !== null; ) {
      const page: HistoryPage = await this.#history(sessionId, from)
      for (const event of page.events)
        for (const update of updates.ofEvent(event)) this.#update(sessionId, update)
      from = page.nextCursor
    }
    await this.#plan(sessionId, '')
    return {}
  }

  async #prompt(sessionId: string, blocks: unknown): Promise<{ readonly stopReason: StopReason }> {
    if (this.#running.has(sessionId))
      throw new AcpError('badRequest', `a prompt of \`${sessionId}\` is under way: cancel it first`)
    const { input, typed } = readPrompt(blocks)
    const cancel = new AbortController()
    this.#running.set(sessionId, { cancel })
    try {
      return await this.#run({ sessionId, input, typed, signal: cancel.signal })
    } finally {
      this.#running.delete(sessionId)
    }
  }

  async #run(request: RunRequest): Promise<{ readonly stopReason: StopReason }> {
    const { sessionId, input, typed, signal } = request
    const shown = await this.#startShowing(sessionId)
    const watch: AcpWatch = {
      signal,
      onProgress: () => shown.look(),
      onText: (text) => shown.text(text),
    }
    const agentId = sessionId
    let page: PromptPage = {}
    try {
      // It may have been cancelled before anything was asked of the agents.
      signal.throwIfAborted()
      // A call that is cancelled has no answer.
      const wait = (answer: Promise<PromptPage>) => orAborted(answer, signal)
      page = await wait(this.#agents.call('wasm_agent_prompt', { agentId, input }, watch, typed))
      while (page.stop === undefined)
        page = await wait(
          this.#agents.call('wasm_agent_wait', { agentId, runId: page.runId }, watch),
        )
    } catch (error) {
      if (!signal.aborted) throw error
    }
    await shown.end()
    if (signal.aborted) return { stopReason: 'cancelled' }
    return { stopReason: this.#stopReason(sessionId, page) }
  }

  #stopReason(sessionId: string, { stop }: PromptPage): StopReason {
    const { reason = 'cancelled', detail = '' } = stop ?? {}
    const why = detail === '' ? reason : `${reason}: ${detail}`
    const stopReason = STOPS[reason]
    if (stopReason === undefined) throw new AcpError('internal', why)
    if (stopReason !== 'end_turn') this.#update(sessionId, agentMessage(`\n\nStopped: ${why}\n`))
    return stopReason
  }

  async #startShowing(sessionId: string): Promise<ShownRun> {
    const tools = await this.#toolsOf(sessionId)
    const { lastSeq } = await this.#history(sessionId, Number.MAX_SAFE_INTEGER)
    const { turnCount: turn } = await this.#agents.call<{ turnCount: number }>(
      'wasm_agent_turn_count',
      { agentId: sessionId },
    )
    let plan = ''
    return new ShownRun({
      updates: new RunUpdates({ tools, turn }),
      next: lastSeq + 1,
      readFrom: (from) => this.#history(sessionId, from),
      show: (update) => this.#update(sessionId, update),
      showPlan: async () => {
        plan = await this.#plan(sessionId, plan)
      },
    })
  }

  #history(agentId: string, from: number): Promise<HistoryPage> {
    return this.#agents.call('wasm_agent_history', { agentId, from, whole: true })
  }

  async #toolsOf(agentId: string): Promise<ReadonlySet<string>> {
    const { tools } = await this.#agents.call<{ tools: string[] }>('wasm_agent_tools', { agentId })
    return new Set(tools)
  }

  /** Shows the todos if they differ from `shown`, and returns them as a text to compare with. */
  async #plan(sessionId: string, shown: string): Promise<string> {
    const { todos } = await this.#agents.call<TodosPage>('wasm_agent_todos', { agentId: sessionId })
    const entries = todos.map(({ content, status }): PlanEntry => {
      const isOpen = status === 'pending' || status === 'in_progress'
      return { content, priority: 'medium', status: isOpen ? status : 'completed' }
    })
    const plan = entries.length === 0 ? '' : JSON.stringify(entries)
    if (plan !== shown) this.#update(sessionId, { sessionUpdate: 'plan', entries })
    return plan
  }

  #update(sessionId: string, update: SessionUpdate): void {
    this.#send({ method: 'session/update', params: { sessionId, update } })
  }
}

interface RunRequest {
  readonly sessionId: string
  readonly input: string
  readonly typed: string
  readonly signal: AbortSignal
}

interface ShownRunParts {
  readonly updates: RunUpdates
  /** The first event that is shown. */
  readonly next: number
  readFrom(event: number): Promise<HistoryPage>
  show(update: SessionUpdate): void
  showPlan(): Promise<void>
}

/** A run while it goes on: words as they come, the rest from the journal, in its order. */
class ShownRun {
  readonly #parts: ShownRunParts
  #next: number
  #reading: Promise<void> = Promise.resolve()
  /** Words that were shown as they came, of turns whose event has not been read yet: the model may be turns ahead. */
  #streamed = ''

  constructor(parts: ShownRunParts) {
    this.#parts = parts
    this.#next = parts.next
  }

  text(text: string): void {
    this.#streamed += text
    this.#parts.show(agentMessage(text))
  }

  /** Shows what is new in the journal, after what is being read. */
  look(): void {
    // A gate that went away is reported by the call that waits for the run.
    this.#reading = this.#reading.then(() => this.#read()).catch(() => undefined)
  }

  async end(): Promise<void> {
    this.look()
    await this.#reading
    for (const update of this.#parts.updates.end()) this.#parts.show(update)
  }

  async #read(): Promise<void> {
    for (let from: number | null = this.#next; from !== null; ) {
      const page: HistoryPage = await this.#parts.readFrom(from)
      for (const event of page.events) this.#showEvent(event)
      from = page.nextCursor
    }
    await this.#parts.showPlan()
  }

  #showEvent(event: ShownEvent): void {
    this.#next = event.seq + 1
    // The editor has drawn what its user typed.
    if (event.kind === 'prompt') return
    const takeStreamed = (text: string) => this.#takeStreamed(text)
    for (const update of this.#parts.updates.ofEvent(event, takeStreamed)) this.#parts.show(update)
  }

  /** An attempt that failed may have sent some words before those that count. */
  #takeStreamed(text: string): boolean {
    const at = this.#streamed.indexOf(text)
    const isStreamed = this.#streamed !== ''
    this.#streamed = at < 0 ? '' : this.#streamed.slice(at + text.length)
    return isStreamed
  }
}

/** Refusals that the editor's user can do something about, by another request. */
const BAD_PARAMS: ReadonlySet<string> = new Set(['AGENT_NOT_FOUND', 'AGENT_INPUT'])

function toAcpError(error: Error): AcpError {
  if (error instanceof AcpError) return error
  if (!(error instanceof AgentCallError)) return new AcpError('internal', error.message)
  const { code, message } = error
  const kind = BAD_PARAMS.has(code) ? 'badParams' : 'internal'
  return new AcpError(kind, message)
}

function sessionOf({ sessionId }: JsonObject): string {
  if (typeof sessionId === 'string' && sessionId !== '') return sessionId
  throw new AcpError('badParams', '`sessionId` is missing')
}
