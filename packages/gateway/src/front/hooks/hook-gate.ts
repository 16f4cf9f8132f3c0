// Hooks of clients as calls: what comes before a tool is a `tools/call` on the client's server, through the
// same relay as anybody's, and what comes after it is that server's answer. So rules, limits, approvals,
// labels, origins and the ledger treat a command of a coding agent like any other call.

import { randomUUID } from 'node:crypto'
import { homedir } from 'node:os'
import type { Caller } from '@sluice/access/identity/callers/caller'
import { readShell } from '@sluice/policy/readers/shell-command'
import { LruMap } from '@sluice/policy/structures/lru-map'
import type { ReportedOutput } from '../../call/label-output.ts'
import {
  deny,
  type HookAnswer,
  type HookEvent,
  type HookedCall,
  PASS,
} from '../../hooks/clients/hook-event.ts'
import { CODING_CLIENTS, type HookSource } from '../../hooks/clients/table.ts'
import { isForUser, listPathsToProve } from '../../hooks/may-answer.ts'
import type { FamilyMemory } from '../../session/open-sessions.ts'
import { type KeptLink, KeptLinks } from '../sessions/kept-links.ts'
import type { OpenServer } from '../sessions/list-tools.ts'
import { beginCall } from './begin-call.ts'
import type { BoxLines, BoxSession, ReportedCall } from './box-lines.ts'
import { joinTexts, toReplacement, toResult } from './hook-output.ts'
import type { HookServer } from './hook-server.ts'
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
import { leadInto } from './real-paths.ts'

/** Who sends a hook. */
export interface HookOrigin {
  /** The server that stands for the client. */
  readonly server: string
  readonly client: HookSource
  readonly caller: Caller
  /** Names the session that the client's MCP calls have too. */
  readonly sessionKey: string
  /** A prompt that comes this way was written by the user, as far as the gate can know. */
  readonly isUsers: boolean
  /** The client's process, if it is known. */
  readonly clientPid?: number | undefined
  /** The client's shell, see `Question`. */
  readonly shell?: string | undefined
}

/** Something that hooks show and a person should know. */
export interface HookIncident {
  readonly server: string
  /** `unconfined`: a line ran without the box that it was admitted for. `refused`: before any rule was asked, so the ledger has no call of it. */
  readonly what: 'rewritten' | 'unconfined' | 'unasked' | 'bypassed' | 'unannounced' | 'refused'
  readonly tool: string
  readonly detail: string
}

export interface HookGateContext {
  readonly serverOf: (client: HookSource) => HookServer
  readonly open: OpenServer
  /** What the session of this key remembers. */
  readonly memoryOf: (who: Caller, sessionKey: string) => FamilyMemory | Promise<FamilyMemory>
  readonly readsOrigins: (caller: Caller) => boolean
  /** What an output that answers no call brings into a session of this caller. */
  readonly labelsOf: (caller: Caller, reported: ReportedOutput) => readonly string[]
  /** Whether the gate has a server or view of this name: its calls are decided when they arrive. */
  readonly isGated: (server: string) => boolean
  readonly onIncident: (incident: HookIncident) => void
  /** Lines that run in boxes. */
  readonly lines: BoxLines
  /** Records that a question of a client was answered. Rejects if it cannot be. */
  readonly recordAnswer: (detail: AnswerDetail) => Promise<unknown>
}

/** Why the user of a client was not asked. */
export type AnswerReason =
  /** An approver approved the call. */
  | 'approved'
  /** The line only reads what `listPathsToProve` allows. */
  | 'read'
  /** The line runs in the box of its session, as it was admitted. */
  | 'box'

/** Detail of the event `quiet` in the ledger. */
export type AnswerDetail = {
  readonly server: string
  readonly tool: string
  /** The number of the call's intent. */
  readonly call: number | null
  readonly why: AnswerReason
}

type CallEvent = Extract<HookEvent, { kind: 'before' | 'asked' | 'after' }>
type AskedEvent = Extract<HookEvent, { kind: 'asked' }>
type EndEvent = Extract<HookEvent, { kind: 'after' }>

const UNANNOUNCED =
  'a call of a client with hooks came without its hook: the client may have lost them'
const UNASKED =
  'a tool has run, and no call of it is open: the gate was not asked, or has restarted since'

const NOT_IN_BOX =
  'the line came back without its box, so it ran unconfined: another hook has changed it, or the client does not take rewritten lines'
const NOT_ADMITTED =
  'the client asks about a call that was not admitted with these arguments: another hook has changed it'

export class HookGate {
  readonly #context: HookGateContext
  readonly #links = new KeptLinks({ max: HOOK_LINKS_MAX, idleMs: HOOK_LINK_IDLE_MS })
  /** The open calls by the link of their session. */
  readonly #calls = new WeakMap<KeptLink, OpenCalls>()
  /** Calls to servers behind the gate, by the client's id: true once the call itself has arrived. */
  readonly #announced = new LruMap<string, boolean>(HOOK_ANNOUNCED_MAX)
  readonly #memories = new WeakMap<KeptLink, Promise<FamilyMemory>>()
  readonly #reported = new LruMap<string, true>(HOOK_NOTED_MAX)

  constructor(context: HookGateContext) {
    this.#context = context
  }

  /**
   * Answers an event. Prompt and mode are noted before anything is decided, because rules on `session.mode` and origins
   * bind the MCP calls of the session, too, also those that are not decided here. A note for the model is taken last, so
   * that it has what this event has caused; the answer to `asked` has none, because no model reads it.
   */
  async handle(event: HookEvent, origin: HookOrigin): Promise<HookAnswer> {
    const kept = this.#links.find(keyOf(event.session, origin))
    if (event.kind === 'prompt') {
      if (kept !== undefined) this.#calls.get(kept)?.notePrompt()
      await this.#notePrompt(event, origin)
    }
    const session = boxSessionOf(event, origin)
    if (event.kind === 'end') {
      kept?.link.close('the client ended the session')
      if (session !== undefined) await this.#context.lines.end(session)
      return PASS
    }
    await this.#noteMode(event, origin)
    if (event.kind === 'prompt') {
      if (session !== undefined) this.#context.lines.introduce(session)
      return this.#addNote(PASS, 'prompt', session)
    }
    const { mcpServer } = event.call
    if (mcpServer !== undefined && this.#context.isGated(mcpServer))
      return this.#passGated(event, mcpServer, origin.server)
    if (event.kind === 'asked') return this.#asked(event, origin)
    const answer = await (event.kind === 'before'
      ? this.#before(event, origin)
      : this.#after(event, origin))
    return this.#addNote(answer, event.kind, session)
  }

  /** Adds what the model is to be told, if the client shows it here. */
  #addNote(
    answer: HookAnswer,
    kind: HookEvent['kind'],
    session: BoxSession | undefined,
  ): HookAnswer {
    if (session === undefined) return answer
    const { notes } = CODING_CLIENTS[session.client].abilities
    if ((kind === 'before') !== (notes === 'next call')) return answer
    if (answer.kind === 'deny' || answer.kind === 'allow') return answer
    if (answer.kind === 'pass' && answer.args !== undefined) return answer
    const note = this.#context.lines.takeNote(session)
    if (note === undefined) return answer
    return answer.kind === 'pass' ? { kind: 'note', note } : { ...answer, note }
  }

  /** The client is about to ask its user. */
  async #asked(event: AskedEvent, origin: HookOrigin): Promise<HookAnswer> {
    const { server } = origin
    const kept = this.#links.find(keyOf(event.session, origin))
    const calls = kept && this.#calls.get(kept)
    const { box, call } = this.#readReport(event, origin)
    const open = calls?.findAdmitted(call, box)
    if (calls !== undefined && open !== undefined && open.box === box) {
      const inBox = isLeftToUser(event, call) ? undefined : 'box'
      const why = box === undefined ? await findReason(event, { origin, calls, open, call }) : inBox
      if (why === undefined) return PASS
      const detail = { server, tool: call.tool, call: open.admission?.intent ?? null, why }
      // What cannot be recorded is left to the user.
      return this.#context.recordAnswer(detail).then<HookAnswer, HookAnswer>(
        () => ({ kind: 'allow' }),
        () => PASS,
      )
    }
    if (calls !== undefined) calls.isRewritten = true
    this.#report(undefined, { server, tool: call.tool, what: 'rewritten', detail: NOT_ADMITTED })
    return PASS
  }

  /** A call that the client reports, with its line as the model wrote it. */
  #readReport(event: CallEvent, origin: HookOrigin): ReportedCall {
    const { lines } = this.#context
    const session = boxSessionOf(event, origin)
    if (session === undefined) return { call: event.call }
    const { call, box } = lines.unwrap(event.call)
    const placed = lines.place(call, session)
    return box === undefined ? { call: placed } : { call: placed, box }
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

  async #before(event: CallEvent, origin: HookOrigin): Promise<HookAnswer> {
    const { session } = event
    const { lines } = this.#context
    const from = boxSessionOf(event, origin)
    const call = from === undefined ? event.call : lines.place(event.call, from)
    const { id = randomUUID() } = call
    const server = this.#context.serverOf(origin.client)
    await server.learn(call.tool)
    const kept = this.#linkOf(session, origin)
    const calls = this.#calls.get(kept) ?? new OpenCalls()
    this.#calls.set(kept, calls)
    if (typeof call.args.cwd === 'string') calls.project ??= call.args.cwd
    const same = calls.get(id)
    if (same !== undefined && isSameCall(same, call)) {
      const verdict = await same.verdict
      // A client's hooks ask twice about one call. Each request of ACS is a call: what is admitted is so once.
      if (origin.client !== 'acs' || verdict.kind === 'deny') return verdict
    }
    const refuse = (detail: string): HookAnswer => {
      this.#report(id, { server: origin.server, tool: call.tool, what: 'refused', detail })
      return deny(detail)
    }
    if (same !== undefined)
      return refuse(`the id \`${id}\` was used for another call: make the call again with a new id`)
    if (!calls.makeRoom())
      return refuse(
        `${HOOK_CALLS_MAX} calls of this session wait to be decided: make fewer at once`,
      )
    const isBoxed = from !== undefined && call.args.box === 'in'
    const enter = isBoxed ? () => lines.prepare(call, from) : undefined
    const open = beginCall(call, { kept, server, enter })
    if (open === undefined) return refuse('the arguments of the call cannot be read strictly')
    calls.add(id, open)
    const verdict = await open.verdict
    const isOutside = from !== undefined && call.tool === 'BashOutside'
    if (verdict.kind !== 'deny' || !isOutside) return verdict
    const why = lines.explainAbsence(from)
    return why === undefined ? verdict : deny(`${verdict.reason}\n${why}`)
  }

  async #after(event: EndEvent, origin: HookOrigin): Promise<HookAnswer> {
    const { session, output, isError } = event
    const { server } = origin
    const { call, box } = this.#readReport(event, origin)
    const { id, tool } = call
    const kept = this.#links.find(keyOf(session, origin))
    const calls = kept && this.#calls.get(kept)
    const open = calls?.findEnded(call, box)
    if (open?.end === undefined) {
      this.#report(id, { server, tool, what: 'unasked', detail: UNASKED })
      await this.#noteOutput(event, origin)
      return PASS
    }
    const from = boxSessionOf(event, origin)
    if (open.box !== undefined && from !== undefined) {
      if (open.box !== box)
        this.#report(id, { server, tool, what: 'unconfined', detail: NOT_IN_BOX })
      this.#context.lines.noteOutput(from, joinTexts(output))
    }
    if (!isSameInput(open, call)) {
      const changed = listChangedInput(open, call).map((name) => `\`${name.slice(0, 64)}\``)
      const what = open.tool === tool ? changed.join(', ') : 'the tool'
      const detail = `another hook changed ${what} after the call was decided`
      if (calls !== undefined) calls.isRewritten = true
      this.#report(id, { server, tool, what: 'rewritten', detail })
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

  /** Rules on `session.mode` bind the MCP calls of the client's window, too. */
  async #noteMode({ session, mode }: HookEvent, origin: HookOrigin): Promise<void> {
    if (mode === undefined) return
    const kept = this.#linkOf(session, origin)
    const memory = this.#memories.get(kept) ?? this.#openMemory(kept, origin)
    this.#memories.set(kept, memory)
    await memory.then(
      (one) => one.noteMode(mode),
      // The link ends, and whatever is decided by it is denied.
      () => {},
    )
  }

  /** The link keeps the session whose memory it is. */
  async #openMemory({ begun }: KeptLink, origin: HookOrigin): Promise<FamilyMemory> {
    await begun
    return this.#context.memoryOf(origin.caller, origin.sessionKey)
  }

  /** Notes a prompt. If a person wrote it, it is the user's; otherwise it is text that the session has read. */
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

  /** Once for each call; each time if the client gives calls no id, because the next one is another call. */
  #report(id: string | undefined, incident: HookIncident): void {
    const key = `${incident.what} ${id}`
    if (id !== undefined && this.#reported.get(key) !== undefined) return
    if (id !== undefined) this.#reported.set(key, true)
    this.#context.onIncident(incident)
  }
}

/** Whether a line in a box is for the user: in plan mode nothing but reading has been agreed to. */
function isLeftToUser({ mode }: AskedEvent, { args: { command } }: HookedCall): boolean {
  return mode === 'plan' && !(typeof command === 'string' && readShell(command).reads)
}

interface AskedContext {
  readonly origin: HookOrigin
  readonly calls: OpenCalls
  readonly open: OpenCall
  /** The call of the question, as it is decided. */
  readonly call: HookedCall
}

/** Why the user need not be asked about an open call that runs in no box; undefined if they are. */
async function findReason(
  { call: asked, offers }: AskedEvent,
  { origin, calls, open, call }: AskedContext,
): Promise<AnswerReason | undefined> {
  const { project = '', isRewritten } = calls
  if (open.admission?.quiet !== true || isRewritten || !isSameCall(open, call)) return undefined
  if (open.admission.approval !== undefined) return isForUser(call) ? undefined : 'approved'
  const { shell } = origin
  const paths = listPathsToProve({ call: asked, offers, shell, project, home: homedir() })
  return paths !== undefined && (await leadInto(paths, project)) ? 'read' : undefined
}

/** The session as boxes know it. Undefined for an agent by ACS, whose lines no client can put into one. */
function boxSessionOf({ session }: HookEvent, origin: HookOrigin): BoxSession | undefined {
  const { server, client, clientPid } = origin
  if (client === 'acs') return undefined
  return { key: keyOf(session, origin), server, client, clientPid }
}

function keyOf(session: string, { server, caller, sessionKey }: HookOrigin): string {
  return JSON.stringify([server, caller.principal.id, sessionKey, session])
}
