// Agents of several gates: says which gate runs an agent, asks that gate, and takes over agents whose gate is
// gone. A request to another gate is a row that its gate takes once, so that nothing is done twice; rows are
// authenticated with the key of the cluster. Owned by the service; journal/leases.ts has the leases.

import { createHmac, randomUUID, timingSafeEqual } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { deserialize, serialize } from 'node:v8'
import { AGENT_BEAT_MS, AGENT_LEASE_MS } from '../../store/limits.ts'
import type { PostgresConnections } from '../../store/postgres/connections.ts'
import { processClock } from '../../store/process-clock.ts'
import { AgentError, toAgentError } from '../shared/errors.ts'
import {
  AGENT_LOOK_BEATS,
  AGENT_REQUEST_BYTES_MAX,
  AGENT_REQUEST_KEPT_MS,
  AGENT_REQUEST_LOOK_MS,
  AGENT_REQUEST_MS_MAX,
  AGENT_REQUESTS_AT_ONCE,
} from '../shared/limits.ts'
import type { Steps } from '../step-thread/step-client.ts'

export interface AgentClusterParts {
  readonly clockFault: () => string | undefined
  readonly connections: Pick<PostgresConnections, 'query'>
  /** Of the cluster, for requests of one gate to another. */
  readonly key: Uint8Array
  readonly lease: string
  readonly steps: Steps
  /** Calls a method of this gate's agents. */
  readonly serve: (method: string, values: readonly unknown[]) => Promise<unknown>
  /** These agents are this gate's now, with something under way; undefined: look at all of this gate. */
  readonly onTaken: (agents: readonly string[] | undefined) => Promise<void>
  /** Other gates may have taken everything. */
  readonly onFenced: () => Promise<void>
  readonly warn: (message: string) => void
}

export interface AgentRequest {
  readonly method: string
  readonly values: readonly unknown[]
  /** It can be done twice: another gate may be asked if the first one is gone. */
  readonly isRepeatable: boolean
}

interface AgentReply {
  readonly value?: unknown
  readonly error?: { readonly code?: string; readonly message: string }
}

const TAKE = `UPDATE sluice_agents.requests SET is_taken = true WHERE id IN (
  SELECT id FROM sluice_agents.requests WHERE lease = $1 AND NOT is_taken
  ORDER BY at LIMIT ${AGENT_REQUESTS_AT_ONCE} FOR UPDATE SKIP LOCKED) RETURNING id, body`
const REPLY = 'UPDATE sluice_agents.requests SET reply = $2 WHERE id = $1'
const ASK = 'INSERT INTO sluice_agents.requests (id, lease, body) VALUES ($1, $2, $3)'
const LEASE = `interval '${AGENT_LEASE_MS} ms'`
const LOOK = `SELECT r.reply, r.is_taken, EXISTS (SELECT 1 FROM sluice_agents.leases l
  WHERE l.lease = r.lease AND l.beat_at BETWEEN now() - ${LEASE} AND now() + ${LEASE}) AS is_live
  FROM sluice_agents.requests r WHERE r.id = $1`
/** Only if it was not begun. */
const WITHDRAW = 'DELETE FROM sluice_agents.requests WHERE id = $1 AND NOT is_taken RETURNING 1'
const REMOVE = 'DELETE FROM sluice_agents.requests WHERE id = $1'
/** The transactions of this gate find no lease then; the next beat takes it again. */
const LEAVE = 'DELETE FROM sluice_agents.leases WHERE lease = $1'
const SWEEP = `DELETE FROM sluice_agents.requests WHERE at < now() - interval '${AGENT_REQUEST_KEPT_MS} ms'`

export class AgentCluster {
  readonly #parts: AgentClusterParts
  /** Agents of this gate, as far as they were asked for. */
  readonly #here = new Set<string>()
  readonly #end = new AbortController()
  /** Its lease was given up, because its clock is wrong. */
  #isAway = false
  #beats = 0
  #beatAtMs = Number.NEGATIVE_INFINITY
  #fault = ''

  constructor(parts: AgentClusterParts) {
    this.#parts = parts
  }

  /** From now on this gate takes over agents and answers for its own. */
  async start(): Promise<void> {
    await this.#beat()
    void this.#repeat(AGENT_BEAT_MS, () => this.#beat())
    void this.#repeat(AGENT_REQUEST_LOOK_MS, () => this.#takeRequests())
    const sweep = async () => void (await this.#parts.connections.query(SWEEP))
    void this.#repeat(AGENT_REQUEST_KEPT_MS, sweep)
  }

  close(): void {
    this.#end.abort()
  }

  /** Here, or at the gate that runs the agent. */
  async run<Result>(
    id: string,
    request: AgentRequest,
    here: () => Promise<Result>,
    signal?: AbortSignal,
  ): Promise<Result> {
    const untilMs = performance.now() + AGENT_REQUEST_MS_MAX
    for (;;) {
      const holder = await this.#holderOf(id)
      if (holder === undefined)
        try {
          return await here()
        } catch (error) {
          // Its lease ended meanwhile, and nothing was done.
          if ((error as AgentError).code !== 'AGENT_ELSEWHERE') throw error
          this.#here.delete(id)
        }
      // Free, and another gate was faster to take it: it is known in a moment.
      else if (holder !== '') {
        const reply = await this.#ask(id, holder, request, untilMs, signal)
        if (reply?.error?.code !== 'AGENT_ELSEWHERE') {
          if (reply?.error !== undefined) throw toAgentError(reply.error)
          if (reply !== undefined) return reply.value as Result
        }
      }
      if (performance.now() > untilMs) throw this.#unavailable(id)
      await sleep(AGENT_REQUEST_LOOK_MS)
    }
  }

  async #holderOf(id: string): Promise<string | undefined> {
    const isCurrent = performance.now() - this.#beatAtMs < AGENT_LEASE_MS - AGENT_BEAT_MS
    if (isCurrent && this.#here.has(id)) return undefined
    const holder = (await this.#parts.steps.acquire(id)) ?? undefined
    if (holder === undefined) this.#here.add(id)
    return holder
  }

  /** Undefined if the gate is gone and has not begun it, or it may be done again. */
  async #ask(
    id: string,
    holder: string,
    { method, values, isRepeatable }: AgentRequest,
    untilMs: number,
    signal?: AbortSignal,
  ): Promise<AgentReply | undefined> {
    const { connections } = this.#parts
    const request = randomUUID()
    await connections.query(ASK, [request, holder, this.#seal(request, { method, values })])
    for (let pauseMs = AGENT_REQUEST_LOOK_MS / 4; ; ) {
      await sleep(pauseMs)
      pauseMs = Math.min(AGENT_REQUEST_LOOK_MS, pauseMs * 1.5)
      const [row] = await connections.query(LOOK, [request])
      if (Buffer.isBuffer(row?.reply)) {
        await connections.query(REMOVE, [request]).catch(() => {})
        return this.#open<AgentReply>(`reply ${request}`, row.reply)
      }
      const isOver = performance.now() > untilMs || signal?.aborted === true
      if (row !== undefined && row.is_live === true && !isOver) continue
      const withdrawn = await connections.query(WITHDRAW, [request])
      if (isOver) throw this.#unavailable(id)
      if (withdrawn.length > 0 || isRepeatable) return undefined
      throw new AgentError(
        'AGENT_UNAVAILABLE',
        `the gate that ran \`${id}\` is gone: it may have done this; see the agent's history`,
      )
    }
  }

  async #takeRequests(): Promise<void> {
    if (await this.#hasLeft()) return
    const rows = await this.#parts.connections.query(TAKE, [this.#parts.lease])
    for (const { id, body } of rows) void this.#serve(String(id), body as Buffer)
  }

  async #serve(id: string, body: Buffer): Promise<void> {
    let reply: AgentReply
    try {
      const { method, values } = this.#open<AgentRequest>(id, body)
      reply = { value: await this.#parts.serve(method, values) }
      if (serialize(reply).length > AGENT_REQUEST_BYTES_MAX)
        throw new AgentError('AGENT_LIMIT', 'the answer is too large to be sent to another gate')
    } catch (error) {
      const { code, message } = error as AgentError
      reply = { error: { message, ...(code === undefined ? {} : { code }) } }
    }
    const { connections, warn } = this.#parts
    await connections
      .query(REPLY, [id, this.#seal(`reply ${id}`, reply)])
      .catch((error: Error) => warn(`an answer to another gate was lost: ${error.message}`))
  }

  async #beat(): Promise<void> {
    if (await this.#hasLeft()) return
    const startedMs = performance.now()
    const { wasFenced, agents } = await this.#parts.steps.takeOver(processClock.nowMs())
    this.#beatAtMs = startedMs
    this.#isAway = false
    if (wasFenced) {
      this.#here.clear()
      this.#parts.warn('other gates have taken over the agents of this one')
      await this.#parts.onFenced()
    }
    this.#beats += 1
    const isLook = wasFenced || this.#beats % AGENT_LOOK_BEATS === 0
    if (agents.length > 0 || isLook) await this.#parts.onTaken(isLook ? undefined : agents)
  }

  /** By a wrong clock limits of time would end agents, and the gate refuses their calls: other gates go on. */
  async #hasLeft(): Promise<boolean> {
    const { clockFault, connections, lease, onFenced, warn } = this.#parts
    const why = clockFault()
    if (why === undefined || this.#isAway) return why !== undefined
    await connections.query(LEAVE, [lease])
    this.#isAway = true
    this.#here.clear()
    warn(`other gates take over the agents of this one: ${why}`)
    await onFenced()
    return true
  }

  /** Until the end, whatever happens to one of them. */
  async #repeat(pauseMs: number, work: () => Promise<void>): Promise<void> {
    const { signal } = this.#end
    while (!signal.aborted) {
      await sleep(pauseMs, undefined, { signal, ref: false }).catch(() => {})
      if (signal.aborted) return
      try {
        await work()
        this.#fault = ''
      } catch (error) {
        const { message } = error as Error
        if (message !== this.#fault && !signal.aborted)
          this.#parts.warn(`agents of the cluster: ${message}`)
        this.#fault = message
      }
    }
  }

  #seal(about: string, value: unknown): Buffer {
    const body = serialize(value)
    return Buffer.concat([this.#code(about, body), body])
  }

  /** Throws if it was not sealed with the key of the cluster for just this. */
  #open<Value>(about: string, sealed: Buffer): Value {
    const [code, body] = [sealed.subarray(0, 32), sealed.subarray(32)]
    const own = this.#code(about, body)
    if (code.length !== own.length || !timingSafeEqual(code, own))
      throw new AgentError('AGENT_DAMAGED', 'a request between gates has a wrong code')
    return deserialize(body) as Value
  }

  #code(about: string, body: Uint8Array): Buffer {
    return createHmac('sha256', this.#parts.key).update(`${about}\n`).update(body).digest()
  }

  #unavailable(id: string): AgentError {
    return new AgentError('AGENT_UNAVAILABLE', `the gate that runs \`${id}\` does not answer`)
  }
}
