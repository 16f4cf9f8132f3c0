// The way of agents to the servers behind the gate: a call by an agent is its owner's call with the
// agent named, through the same relay as anybody's, so that no agent can do what its owner may not. An
// agent's family is one session, its whole life. Handed to the agents by the composition root.

import type { ApprovalService } from '@sluice/access/approvals/approval'
import { toRequestId } from '@sluice/access/approvals/approval-submission'
import type { Caller } from '@sluice/access/identity/callers/caller'
import { classify, classifyOwn } from '@sluice/catalogue/classify/classify'
import { describeToCaller } from '@sluice/ledger/store/outage'
import type { AgentFacts } from '@sluice/policy/calls/call'
import type { JsonObject } from '@sluice/policy/values/json'
import {
  type AgentCall,
  type AgentOutcome,
  type AgentPrompt,
  type AgentTool,
  EFFECT_META,
  type ProgramOrigin,
  READ_LABEL,
  readProgramOwner,
} from '@sluice/protocol/agent-calls'
import type { JsonRpcResponse } from '@sluice/protocol/message'
import type { AgentFamilySession, FamilyMemory } from '../../session/open-sessions.ts'
import { AGENT_CALL_MS_MAX, AGENT_LINK_IDLE_MS, AGENT_LINKS_MAX } from '../../shared/limits.ts'
import type { ClientEvents, ClientTransport } from '../../shared/transport.ts'
import { type KeptLink, KeptLinks, readCallReply, toCallParams } from './kept-links.ts'
import { listTools } from './list-tools.ts'
import type { MemberTransport } from './member-transport.ts'

export interface AgentGateContext {
  /** What the agents of an owner can reach. */
  readonly servers: (owner: string) => readonly string[]
  /** A server that runs inside the gate, whose own hints hold. */
  readonly isOwn: (server: string, tool: string) => boolean
  readonly approvals: Pick<ApprovalService, 'find' | 'watch'>
  /** The caller of an owner; undefined if the owner may no longer call. */
  readonly callerOf: (owner: string) => Caller | undefined
  /** What a family, or a program's client, has seen and remembers: the session that its calls are judged in. */
  readonly memoryOf: (family: string, owner: string) => FamilyMemory | Promise<FamilyMemory>
  /** Whether a rule for this caller reads where values came from. */
  readonly readsOrigins: (caller: Caller) => boolean
  readonly open: (
    server: string,
    link: ClientTransport,
    who: () => Caller,
    session: AgentFamilySession,
  ) => ClientEvents
}

/** What it takes to make a held call once it may be made. */
interface HeldCallTicket {
  readonly approval: string
  readonly call: AgentCall
}

const GONE = { kind: 'denied', code: 'DENIED' } as const

export class AgentGate {
  readonly #context: AgentGateContext
  /** One agent's link to one server. Each agent of a family has its own: a call is decided by the facts of
   * its caller, also if two of them call at once. */
  readonly #links = new KeptLinks({ max: AGENT_LINKS_MAX, idleMs: AGENT_LINK_IDLE_MS })
  /** The agents by link, as of its newest call: turns go on. Null if the owner's own list is asked for. */
  readonly #agents = new Map<string, AgentFacts | null>()

  constructor(context: AgentGateContext) {
    this.#context = context
  }

  /** What the owner may see of every server that answers. */
  async list(owner: string): Promise<AgentTool[]> {
    const caller = this.#context.callerOf(owner)
    if (caller === undefined) return []
    const lists = await Promise.all(
      this.#context.servers(owner).map((server) => this.#listOf(server, owner).catch(() => [])),
    )
    return lists.flat()
  }

  /** Judged with what the agents say that the family has seen, and with what this session saw. */
  async call(call: AgentCall & { readonly signal: AbortSignal }): Promise<AgentOutcome> {
    const { owner, family, program } = call
    // The link keeps the session of a program's client while its memory is read.
    const early = program === undefined ? undefined : await this.#reach(call)
    const session = await this.#inherit(owner, family, call.labels ?? [])
    const reached = early ?? (await this.#reach(call))
    const outcome = 'kind' in reached ? reached : await this.#call(call, reached.link)
    return { ...outcome, saw: this.#sawOf(session, owner) }
  }

  /** What the agent is told: by a person it is the user's prompt, by a model of another session prose. */
  async notePrompt({ owner, family, labels, text, isUsers }: AgentPrompt): Promise<void> {
    const session = await this.#inherit(owner, family, labels)
    if (!this.#readsOrigins(owner)) return
    if (isUsers) session.provenance().addPrompt(text)
    else session.provenance().addText(text)
    session.remembered()
  }

  /** Labels that the family has and its session has not came with something that the session never
   * read, such as instructions: its memory is incomplete. */
  async #inherit(owner: string, family: string, labels: readonly string[]): Promise<FamilyMemory> {
    const session = await this.#context.memoryOf(family, owner)
    // The memory is made before the session counts as used.
    const seen = this.#sawOf(session, owner)
    if (this.#readsOrigins(owner) && labels.some((label) => !seen.includes(label))) {
      session.provenance().markIncomplete()
      session.remembered()
    }
    session.see(labels.filter((label) => label !== READ_LABEL))
    return session
  }

  #sawOf(session: FamilyMemory, owner: string): readonly string[] {
    const hasRead = this.#readsOrigins(owner) && session.provenance().hasRead
    return hasRead ? [...session.saw(), READ_LABEL] : session.saw()
  }

  #readsOrigins(owner: string): boolean {
    const caller = this.#context.callerOf(owner)
    return caller !== undefined && this.#context.readsOrigins(caller)
  }

  /** The link to the server of a call, once its session is begun, or why there is none. */
  async #reach({ owner, server, family, agent }: AgentCall): Promise<KeptLink | AgentOutcome> {
    if (this.#context.callerOf(owner) === undefined)
      return { ...GONE, reason: `\`${owner}\`, whose agent this is, may no longer call` }
    if (!this.#context.servers(owner).includes(server))
      return { ...GONE, code: 'TOOL_UNKNOWN', reason: `no server is called \`${server}\`` }
    const line = this.#line(server, owner, family, agent)
    try {
      await line.begun
    } catch (error) {
      return { ...GONE, code: 'UPSTREAM', reason: describeToCaller(error) }
    }
    return line
  }

  async #call(
    call: AgentCall & { readonly signal: AbortSignal },
    link: MemberTransport,
  ): Promise<AgentOutcome> {
    const { tool, args, effectId, signal, program } = call
    const params = toCallParams(tool, args, { [EFFECT_META]: effectId })
    if (typeof params === 'string')
      return { ...GONE, reason: `the arguments cannot be sent: ${params}` }
    try {
      const answer = await link.ask('tools/call', params, AGENT_CALL_MS_MAX, { signal, program })
      return outcomeOf(answer, call)
    } catch (error) {
      return { kind: 'unknown', reason: describeToCaller(error) }
    }
  }

  /** The ticket of a call that was held when its gate ended; undefined if no approval was requested. */
  findHeld(call: AgentCall): string | undefined {
    const approval = toRequestId(call.effectId)
    if (this.#context.approvals.find(approval) !== undefined) return writeTicket(approval, call)
    return undefined
  }

  /** Waits for the verdict on a held call, makes it if it may be made, and gives its outcome. Also after
   * a restart: a call that had taken its approval by then is not made again. `labels` are those that
   * the family has by now, `program` is the program that made the call. */
  async settle(
    ticket: string,
    signal: AbortSignal,
    labels: () => Promise<readonly string[]> = async () => [],
    program?: ProgramOrigin,
  ): Promise<AgentOutcome> {
    let { approval, call } = JSON.parse(ticket) as HeldCallTicket
    let hasWaited = false
    while (!signal.aborted) {
      const request = this.#context.approvals.find(approval)
      if (request?.state === 'pending') {
        hasWaited = true
        await this.#change(approval, signal)
        continue
      }
      if (request === undefined) return { kind: 'unknown', reason: 'the request is not known' }
      const { state, usedBy, why } = request
      if (state === 'denied' || state === 'expired') {
        const code = state === 'denied' ? 'APPROVAL_DENIED' : 'APPROVAL_EXPIRED'
        const became = state === 'denied' ? 'was denied' : 'expired'
        return { kind: 'denied', code, reason: `the request for approval ${became}: ${why}` }
      }
      if (usedBy !== null && hasWaited)
        return { kind: 'denied', code: 'APPROVAL_USED', reason: `used by the call ${usedBy}` }
      if (usedBy !== null) return { kind: 'unknown', reason: 'the gate ended while it was out' }
      const outcome = await this.call({ ...call, labels: await labels(), program, signal })
      if (outcome.kind !== 'held')
        return outcome
        // The rule or the definition changed meanwhile: approval is requested again.
      ;({ approval, call } = JSON.parse(outcome.ticket) as HeldCallTicket)
    }
    return { kind: 'unknown', reason: 'nobody waits for it any more' }
  }

  #change(approval: string, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        stop()
        signal.removeEventListener('abort', done)
        resolve()
      }
      const stop = this.#context.approvals.watch(({ id }) => {
        if (id === approval) done()
      })
      signal.addEventListener('abort', done, { once: true })
    })
  }

  close(): void {
    this.#links.close('the gate is stopping')
  }

  async #listOf(server: string, owner: string): Promise<AgentTool[]> {
    const line = this.#line(server, owner, `list of ${owner}`, null)
    await line.begun
    const tools = await listTools(line.link)
    return tools.map((definition) => {
      const { name, description = '', inputSchema } = definition
      const classOf = this.#context.isOwn(server, name) ? classifyOwn : classify
      const { category } = classOf({ ...definition, server })
      return { server, name, description: String(description), inputSchema, category }
    })
  }

  #line(server: string, owner: string, family: string, agent: AgentFacts | null): KeptLink {
    const { callerOf, open } = this.#context
    const key = JSON.stringify([owner, family, agent?.id ?? null, server])
    this.#agents.set(key, agent)
    const last = callerOf(owner) as Caller
    const isProgram = readProgramOwner(owner) !== undefined
    const session = { family, isProgram, agent: () => this.#agents.get(key) ?? agent }
    return this.#links.use(key, {
      client: 'sluice-agents',
      open: (made) => open(server, made, () => callerOf(owner) ?? last, session),
      onEnd: () => this.#agents.delete(key),
    })
  }
}

function outcomeOf(answer: JsonRpcResponse, call: AgentCall): AgentOutcome {
  const reply = readCallReply(answer)
  if (reply.kind === 'refused') return toDeniedOutcome(reply.decision, call)
  if (reply.kind === 'unknown') return { kind: 'unknown', reason: reply.text }
  return reply
}

function toDeniedOutcome(decision: JsonObject, call: AgentCall): AgentOutcome {
  const { code, approvalId } = decision
  const reason = String(decision.reason)
  if (code !== 'APPROVAL_PENDING' || typeof approvalId !== 'string')
    return { kind: 'denied', code: String(code), reason }
  return { kind: 'held', ticket: writeTicket(approvalId, call), reason }
}

function writeTicket(approval: string, call: AgentCall): string {
  const { owner, agent, family, server, tool, args, effectId } = call
  const ticket: HeldCallTicket = {
    approval,
    call: { owner, agent, family, server, tool, args, effectId },
  }
  return JSON.stringify(ticket)
}
