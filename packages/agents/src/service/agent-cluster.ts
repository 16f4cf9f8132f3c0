// Agents of several gates: keeps the lease of this gate, takes over agents whose gate is gone, and has every call about
// an agent done by the gate that runs it. A call is tried here first; if another gate runs the agent, nothing was done
// and that gate is asked, over the connections that gates have with each other (gateway/front/forward). Owned by the
// service; journal/leases.ts has the leases. Progress is not reported across gates.

import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { deserialize, serialize } from 'node:v8'
import { AGENT_BEAT_MS, AGENT_LEASE_MS } from '@sluice/ledger/store/limits'
import { describeToCaller } from '@sluice/ledger/store/outage'
import type { SharedAgents } from '@sluice/ledger/store/postgres/shared-agents'
import { processClock } from '@sluice/ledger/store/process-clock'
import { AgentError, toAgentError } from '../shared/errors.ts'
import { AGENT_LOOK_BEATS, AGENT_REQUEST_LOOK_MS, AGENT_REQUEST_MS_MAX } from '../shared/limits.ts'
import { orAborted } from '../shared/or-aborted.ts'
import type { Steps } from '../step-thread/step-client.ts'
import type { Service } from './service.ts'
import type { PromptArguments } from './service-types.ts'

export interface AgentClusterParts {
  readonly shared: SharedAgents
  readonly lease: string
  readonly service: Service
  /** These agents are this gate's now, with something under way; undefined: look at all of this gate. */
  readonly onTaken: (agents: readonly string[] | undefined) => Promise<void>
  /** Other gates may have taken everything. */
  readonly onFenced: () => Promise<void>
  readonly warn: (message: string) => void
}

interface AgentRequest {
  /** The method of the service; `steps.` and its name if it is one of the step thread. */
  readonly method: string
  readonly values: readonly unknown[]
}

interface AgentReply {
  readonly value?: unknown
  readonly error?: { readonly code?: string; readonly message: string }
}

type Method = (...values: unknown[]) => Promise<unknown>

const STEPS_PREFIX = 'steps.'
/** What changes an agent and may not be done twice. A prompt may, by the id of its request. */
const ONCE: ReadonlySet<string> = new Set([
  'callTool',
  'resume',
  'reset',
  'terminate',
  'fork',
  'move',
] satisfies (keyof Service)[])
/** The transactions of this gate find no lease then; the next beat takes it again. */
const LEAVE = 'DELETE FROM sluice_agents.leases WHERE lease = $1'

export class AgentCluster {
  readonly #parts: AgentClusterParts
  readonly #steps: Steps
  readonly #end = new AbortController()
  /** Aborted when this gate no longer runs the agents that it ran. */
  #left = new AbortController()
  /** Its lease was given up, because its clock is wrong. */
  #isAway = false
  #beats = 0
  #beatAtMs = Number.NEGATIVE_INFINITY

  constructor(parts: AgentClusterParts) {
    this.#parts = parts
    this.#steps = parts.service.steps
  }

  /** From now on this gate takes over agents and answers for its own. Resolves with the service as callers use it: what
   * it is asked about an agent is done by the gate that runs the agent. */
  async start(): Promise<Service> {
    await this.#beat()
    void this.#repeat(AGENT_BEAT_MS, () => this.#beat())
    // A wrong clock is noticed before a run goes on by it.
    void this.#repeat(AGENT_REQUEST_LOOK_MS, () => this.#hasLeft())
    const { service, shared } = this.#parts
    shared.serve = (body) => this.#serve(body)
    const steps = this.#route(this.#steps, STEPS_PREFIX)
    const routed = this.#route(service, '')
    return new Proxy(routed, {
      get: (target, name) => (name === 'steps' ? steps : Reflect.get(target, name)),
    })
  }

  close(): void {
    this.#end.abort()
    this.#parts.shared.serve = undefined
  }

  /** Methods have the owner as first and the agent as second argument, or are about no agent and never tried elsewhere. */
  #route<Target extends object>(target: Target, prefix: string): Target {
    return new Proxy(target, {
      get: (_, name) => {
        const found: unknown = Reflect.get(target, name, target)
        if (typeof found !== 'function' || typeof name !== 'string') return found
        const method = found.bind(target) as Method
        return (...given: unknown[]) => {
          const values = name === 'prompt' ? withRequestId(given) : given
          const [, id] = values
          const here = () => method(...values)
          if (typeof id !== 'string') return here()
          return this.#run(id, { method: `${prefix}${name}`, values }, here)
        }
      },
    })
  }

  /** Here, or at the gate that runs the agent. */
  async #run(id: string, request: AgentRequest, here: () => Promise<unknown>): Promise<unknown> {
    const isCurrent = performance.now() - this.#beatAtMs < AGENT_LEASE_MS - AGENT_BEAT_MS
    if (isCurrent)
      try {
        return await here()
      } catch (error) {
        throwUnlessElsewhere(error as AgentError)
      }
    const until = AbortSignal.timeout(AGENT_REQUEST_MS_MAX)
    const signal = request.values.find((value) => value instanceof AbortSignal)
    const ending = signal === undefined ? until : AbortSignal.any([until, signal])
    for (;;) {
      const holder = await this.#steps.acquire(id)
      try {
        if (holder === null) return await here()
        // Otherwise it is free, and another gate was faster to take it: which one is known in a moment.
        const reply = holder === '' ? undefined : await this.#ask(id, holder, request, ending)
        if (reply?.error !== undefined) throw toAgentError(reply.error)
        if (reply !== undefined) return reply.value
      } catch (error) {
        throwUnlessElsewhere(error as AgentError)
      }
      if (ending.aborted) throw unavailable(`the gate that runs \`${id}\` does not answer`)
      await sleep(AGENT_REQUEST_LOOK_MS)
    }
  }

  /** Returns undefined if the gate is gone and has not begun the work, or the work may be done again. */
  async #ask(
    id: string,
    gate: string,
    { method, values }: AgentRequest,
    ending: AbortSignal,
  ): Promise<AgentReply | undefined> {
    const sent = values.map((value) => (isPlain(value) ? value : undefined))
    const body = serialize({ method, values: sent } satisfies AgentRequest)
    const answer = await this.#parts.shared.ask(gate, body, ending).catch((error: Error) => {
      throw unavailable(`\`${id}\` cannot be asked for here: ${describeToCaller(error)}`)
    })
    if (Buffer.isBuffer(answer)) return deserialize(answer) as AgentReply
    if (answer === 'gone' || ending.aborted || !ONCE.has(method)) return undefined
    throw unavailable(
      `the gate that ran \`${id}\` is gone: it may have done this; see the agent's history`,
    )
  }

  /** What another gate asks of this one. */
  async #serve(body: Buffer): Promise<Uint8Array> {
    try {
      const { method, values } = deserialize(body) as AgentRequest
      const isStep = method.startsWith(STEPS_PREFIX)
      const target: object = isStep ? this.#steps : this.#parts.service
      const name = isStep ? method.slice(STEPS_PREFIX.length) : method
      const work = (Reflect.get(target, name) as Method).apply(target, [...values])
      const value = await (ONCE.has(method) ? work : orAborted(work, this.#left.signal))
      return serialize({ value } satisfies AgentReply)
    } catch (error) {
      const { code, message } = error as AgentError
      return serialize({ error: { code, message } } satisfies AgentReply)
    }
  }

  async #beat(): Promise<void> {
    if (await this.#hasLeft()) return
    const { warn, onFenced, onTaken } = this.#parts
    const startedMs = performance.now()
    const { wasFenced, agents } = await this.#steps.takeOver(processClock.nowMs())
    this.#beatAtMs = startedMs
    this.#isAway = false
    if (wasFenced) {
      warn('other gates have taken over the agents of this one')
      this.#leave()
      await onFenced()
    }
    this.#beats += 1
    const isLook = wasFenced || this.#beats % AGENT_LOOK_BEATS === 0
    if (agents.length > 0 || isLook) await onTaken(isLook ? undefined : agents)
  }

  /** Gates that wait for an answer of this one ask the gate that goes on with the agent, where that does nothing twice. */
  #leave(): void {
    this.#left.abort(new AgentError('AGENT_ELSEWHERE', 'another gate goes on with the agent'))
    this.#left = new AbortController()
  }

  /** A gate with a wrong clock leaves: limits of time would end agents, and the gate refuses their calls. Other gates
   * go on. */
  async #hasLeft(): Promise<boolean> {
    const { lease, onFenced, shared, warn } = this.#parts
    const why = shared.clockFault()
    if (why === undefined || this.#isAway) return why !== undefined
    await shared.connections.query(LEAVE, [lease])
    this.#isAway = true
    this.#beatAtMs = Number.NEGATIVE_INFINITY
    this.#leave()
    warn(`other gates take over the agents of this one: ${why}`)
    await onFenced()
    return true
  }

  /** Until the end, whatever happens to one of them. */
  async #repeat(everyMs: number, work: () => Promise<unknown>): Promise<void> {
    const { signal } = this.#end
    let fault = ''
    while (!signal.aborted) {
      await sleep(everyMs, undefined, { signal, ref: false }).catch(() => {})
      if (signal.aborted) return
      try {
        await work()
        fault = ''
      } catch (error) {
        const { message } = error as Error
        if (message !== fault && !signal.aborted)
          this.#parts.warn(`agents of the cluster: ${message}`)
        fault = message
      }
    }
  }
}

/** Another gate runs the agent, or the lease of this one ended meanwhile: nothing was done. */
function throwUnlessElsewhere(error: AgentError): void {
  if (error.code !== 'AGENT_ELSEWHERE') throw error
}

function unavailable(message: string): AgentError {
  return new AgentError('AGENT_UNAVAILABLE', message)
}

/** So that a gate that takes over finds the run that another one began. */
function withRequestId([owner, id, prompt, ...rest]: unknown[]): unknown[] {
  return [owner, id, { requestId: randomUUID(), ...(prompt as PromptArguments) }, ...rest]
}

/** A signal and a listener stay where they are. */
function isPlain(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return typeof value !== 'function'
  const parts = Object.values(value)
  return !(value instanceof AbortSignal) && parts.every((each) => typeof each !== 'function')
}
