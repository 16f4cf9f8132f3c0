// Hooks of clients as calls: what comes before a tool is a `tools/call` on the client's server, through the
// same relay as anybody's, and what comes after it is that server's answer. So rules, limits, approvals,
// labels, origins and the ledger treat a command of a coding agent like any other call.

import { randomUUID } from 'node:crypto'
import type { Caller } from '@sluice/access/identity/callers/caller'
import { describeToCaller } from '@sluice/ledger/store/outage'
import { isObject, type JsonObject, type JsonValue } from '@sluice/policy/core/json'
import { LruMap } from '@sluice/policy/core/lru-map'
import type { ReportedOutput } from '../../call/label-output.ts'
import { HOOK_CALL_MS_MAX } from '../../config/limits.ts'
import {
  type HookAnswer,
  type HookClient,
  type HookEvent,
  type HookedCall,
  PASS,
} from '../../hooks/hook-event.ts'
import type { FamilyMemory } from '../../session/open-sessions.ts'
import {
  type CallReply,
  type KeptLink,
  KeptLinks,
  readCallReply,
  toCallParams,
} from '../sessions/kept-links.ts'
import type { OpenServer } from '../sessions/list-tools.ts'
import { HOOK_META, type HookServer } from './hook-server.ts'
import {
  HOOK_ANNOUNCED_MAX,
  HOOK_CALLS_MAX,
  HOOK_LINK_IDLE_MS,
  HOOK_LINKS_MAX,
  HOOK_NOTED_MAX,
} from './limits.ts'
import {
  isSameCall,
  isSameInput,
  listChangedInput,
  type OpenCall,
  OpenCalls,
} from './open-calls.ts'

/** Who sends a hook. */
export interface HookOrigin {
  /** The server that stands for the client. */
  readonly server: string
  readonly client: HookClient
  readonly caller: Caller
  /** Names the session that the client's MCP calls have too. */
  readonly sessionKey: string
  /** A prompt that comes this way was written by the user, as far as the gate can know. */
  readonly isUsers: boolean
}

/** Something that hooks show and a person should know. */
export interface HookIncident {
  readonly server: string
  /** `refused`: before any rule was asked, so the ledger has no call of it. */
  readonly what: 'rewritten' | 'unasked' | 'bypassed' | 'unannounced' | 'refused'
  readonly tool: string
  readonly detail: string
}

export interface HookGateContext {
  readonly serverOf: (client: HookClient) => HookServer
  readonly open: OpenServer
  /** What the session of this key remembers. */
  readonly memoryOf: (who: Caller, sessionKey: string) => FamilyMemory | Promise<FamilyMemory>
  readonly readsOrigins: (caller: Caller) => boolean
  /** What an output that answers no call brings into a session of this caller. */
  readonly labelsOf: (caller: Caller, reported: ReportedOutput) => readonly string[]
  /** Whether the gate has an MCP server of this name, which decides the call itself. */
  readonly isGated: (server: string) => boolean
  readonly onIncident: (incident: HookIncident) => void
}

type CallEvent = Extract<HookEvent, { kind: 'before' | 'after' }>
type EndEvent = Extract<HookEvent, { kind: 'after' }>

const UNANNOUNCED =
  'a call of a client with hooks came without its hook: the client may have lost them'
const UNASKED =
  'a tool has run, and no call of it is open: the gate was not asked, or has restarted since'

export class HookGate {
  readonly #context: HookGateContext
  readonly #links = new KeptLinks({ max: HOOK_LINKS_MAX, idleMs: HOOK_LINK_IDLE_MS })
  /** By the link of their session. */
  readonly #calls = new WeakMap<KeptLink, OpenCalls>()
  /** Calls to servers behind the gate, by the client's id: true once the call itself has arrived. */
  readonly #announced = new LruMap<string, boolean>(HOOK_ANNOUNCED_MAX)
  readonly #reported = new LruMap<string, true>(HOOK_NOTED_MAX)

  constructor(context: HookGateContext) {
    this.#context = context
  }

  async handle(event: HookEvent, origin: HookOrigin): Promise<HookAnswer> {
    const kept = this.#links.find(keyOf(event.session, origin))
    if (event.kind === 'prompt') {
      if (kept !== undefined) this.#calls.get(kept)?.notePrompt()
      await this.#notePrompt(event, origin)
    }
    if (event.kind === 'end') kept?.link.close('the client ended the session')
    if (event.kind === 'prompt' || event.kind === 'end') return PASS
    const { mcpServer } = event.call
    if (mcpServer !== undefined && this.#context.isGated(mcpServer))
      return this.#passGated(event, mcpServer, origin.server)
    return event.kind === 'before' ? this.#before(event, origin) : this.#after(event, origin)
  }

  /** An MCP call has arrived with the client's id of it. */
  arrived(id: string, server: string, tool: string): void {
    if (this.#announced.get(id) !== undefined) this.#announced.set(id, true)
    else this.#report(id, { server, tool, what: 'unannounced', detail: UNANNOUNCED })
  }

  close(): void {
    this.#links.close('the gate is stopping')
  }

  /** The call comes to the gate by MCP a moment later, and is decided there. */
  #passGated({ kind, call }: CallEvent, mcpServer: string, server: string): HookAnswer {
    const { id, tool } = call
    if (id === undefined) return PASS
    const detail = `the gate has a server \`${mcpServer}\`, and this call did not pass it: the client has another server of that name`
    if (kind === 'before') this.#announced.set(id, false)
    else if (this.#announced.get(id) === false)
      this.#report(id, { server, tool, what: 'bypassed', detail })
    return PASS
  }

  async #before({ session, call }: CallEvent, origin: HookOrigin): Promise<HookAnswer> {
    const { id = randomUUID() } = call
    const server = this.#context.serverOf(origin.client)
    await server.learn(call.tool)
    const kept = this.#linkOf(session, origin)
    const calls = this.#calls.get(kept) ?? new OpenCalls()
    this.#calls.set(kept, calls)
    const same = calls.get(id)
    if (same !== undefined && isSameCall(same, call)) return same.verdict
    const refuse = (detail: string): HookAnswer => {
      this.#report(id, { server: origin.server, tool: call.tool, what: 'refused', detail })
      return deny(detail)
    }
    if (same !== undefined)
      return refuse(`the id \`${id}\` was used for another call: make the call again`)
    if (!calls.makeRoom())
      return refuse(
        `${HOOK_CALLS_MAX} calls of this session wait to be decided: make fewer at once`,
      )
    const open = beginCall(call, kept, server)
    if (open === undefined) return refuse('the arguments of the call cannot be read strictly')
    calls.add(id, open)
    return open.verdict
  }

  async #after(event: EndEvent, origin: HookOrigin): Promise<HookAnswer> {
    const { session, call, output, isError } = event
    const { server } = origin
    const { id, tool } = call
    const kept = this.#links.find(keyOf(session, origin))
    const open = (kept && this.#calls.get(kept))?.findEnded(call)
    if (open?.end === undefined) {
      this.#report(id ?? tool, { server, tool, what: 'unasked', detail: UNASKED })
      await this.#noteOutput(event, origin)
      return PASS
    }
    if (!isSameInput(open, call)) {
      const changed = listChangedInput(open, call).map((name) => `\`${name.slice(0, 64)}\``)
      const what = open.tool === tool ? changed.join(', ') : 'the tool'
      const detail = `another hook changed ${what} after the call was decided`
      this.#report(id ?? tool, { server, tool, what: 'rewritten', detail })
    }
    open.end(toResult(output, isError))
    return toReplacement(await open.reply, output)
  }

  /** The model reads what nobody inspected. Not noting it would be a way around every label and origin: a command
   * can end its own call by a forged hook before the client reports what it printed. */
  async #noteOutput({ session, call, output }: EndEvent, origin: HookOrigin): Promise<void> {
    const { caller, server, sessionKey } = origin
    // The link keeps the session that the output is noted in.
    await this.#linkOf(session, origin).begun.catch(() => {})
    const memory = await this.#context.memoryOf(caller, sessionKey)
    memory.see(this.#context.labelsOf(caller, { server, tool: call.tool, output }))
    if (!this.#context.readsOrigins(caller)) return
    memory.provenance().addText(joinTexts(output))
    memory.remembered()
  }

  /** By a person it is the user's prompt; by anybody else it is text that the session has read. */
  async #notePrompt(
    { session, text, isTyped }: Extract<HookEvent, { kind: 'prompt' }>,
    origin: HookOrigin,
  ): Promise<void> {
    const { caller, sessionKey, isUsers } = origin
    if (!this.#context.readsOrigins(caller)) return
    // The link keeps the session that the prompt is noted in.
    await this.#linkOf(session, origin).begun
    const memory = await this.#context.memoryOf(caller, sessionKey)
    if (isUsers && isTyped && caller.canSayPrompt === true) memory.provenance().addPrompt(text)
    else memory.provenance().addText(text)
    memory.remembered()
  }

  #linkOf(session: string, origin: HookOrigin): KeptLink {
    const { server, client, caller, sessionKey } = origin
    return this.#links.use(keyOf(session, origin), {
      client,
      open: (made) => this.#context.open(server, made, () => caller, { sessionKey }),
    })
  }

  /** Once for each call. */
  #report(id: string, incident: HookIncident): void {
    const key = `${incident.what} ${id}`
    if (this.#reported.get(key) !== undefined) return
    this.#reported.set(key, true)
    this.#context.onIncident(incident)
  }
}

function beginCall(
  { tool, args }: HookedCall,
  { link, begun }: KeptLink,
  server: HookServer,
): OpenCall | undefined {
  const hook = randomUUID()
  const givenUp = new AbortController()
  const params = toCallParams(tool, args, { [HOOK_META]: hook })
  if (typeof params === 'string') return undefined
  const reply = begun
    .then(() => link.ask('tools/call', params, 2 * HOOK_CALL_MS_MAX, givenUp))
    .then(readCallReply)
    .catch((error: Error): CallReply => ({ kind: 'unknown', text: describeToCaller(error) }))
    .finally(() => server.forget(hook))
  const verdict = new Promise<HookAnswer>((resolve) => {
    server.await(hook, (end) => {
      open.end = end
      resolve(PASS)
    })
    void reply.then(({ text }) => resolve(deny(text)))
  })
  const open: OpenCall = { tool, args, reply, verdict, giveUp: () => givenUp.abort() }
  return open
}

function keyOf(session: string, { server, caller, sessionKey }: HookOrigin): string {
  return JSON.stringify([server, caller.principal.id, sessionKey, session])
}

function deny(reason: string): HookAnswer {
  return { kind: 'deny', reason }
}

/** An object stays one, so that a rule for answers changes its texts and not its form. */
function toResult(output: JsonValue, isError: boolean): JsonObject {
  if (isObject(output)) return { content: [], structuredContent: output, isError }
  const text = typeof output === 'string' ? output : JSON.stringify(output)
  return { content: [{ type: 'text', text }], isError }
}

/** Every text of an output, and what it is called. */
function joinTexts(value: JsonValue): string {
  if (Array.isArray(value)) return value.map(joinTexts).join('\n')
  if (!isObject(value)) return String(value)
  return Object.entries(value)
    .map(([key, member]) => `${key}\n${joinTexts(member)}`)
    .join('\n')
}

/** What the model is to read, if that is not what the tool said. */
function toReplacement(reply: CallReply, output: JsonValue): HookAnswer {
  if (reply.kind !== 'result')
    return { kind: 'replace', output: replaceTexts(output, reply.text), reason: reply.text }
  const shown = isObject(output) ? (reply.structured ?? {}) : reply.text
  const said = isObject(output) || typeof output === 'string' ? output : JSON.stringify(output)
  return JSON.stringify(shown) === JSON.stringify(said) ? PASS : { kind: 'replace', output: shown }
}

/** Clients ignore a replacement that has another form than the output, and show the output. */
function replaceTexts(value: JsonValue, text: string): JsonValue {
  if (typeof value === 'string') return text
  if (Array.isArray(value)) return value.map((item) => replaceTexts(item, text))
  if (!isObject(value)) return value
  const entries = Object.entries(value).map(([key, member]) => [
    key,
    key === 'type' ? member : replaceTexts(member, text),
  ])
  return Object.fromEntries(entries) as JsonObject
}
