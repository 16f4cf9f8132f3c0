// `POST /acs`: the gate as a Guardian of the Agent Control Standard 0.1.0, profile acs-core. Who has the key of a grant
// is its agent, from wherever it asks. A step is checked, put into the chain of its session in the store, and decided
// as a hook; a request that another gate has taken is in that chain, and is refused.

import { createHash, createHmac, hkdfSync, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { ApprovalEngine } from '@sluice/access/approvals/engine'
import type { AcsAgent, Authenticator } from '@sluice/access/identity/callers/authenticator'
import { readSecret } from '@sluice/access/identity/oauth/secret-text'
import type { Ledger } from '@sluice/ledger/ledger'
import type { StepChains } from '@sluice/ledger/store/step-chains'
import { LruMap } from '@sluice/policy/structures/lru-map'
import type { JsonObject, JsonValue } from '@sluice/policy/values/json'
import { readJson } from '@sluice/protocol/json/read-json'
import { chainOf, toRequestText, writeChainEntry } from '../../acs/chain.ts'
import {
  ACS_CODE,
  type AcsFault,
  type AcsRequest,
  findEnvelopeFault,
  idOf,
  readEnvelope,
  toSignedText,
} from '../../acs/envelope.ts'
import { ACS_METHODS, type AcsStep, readStep } from '../../acs/read-step.ts'
import {
  type AcsDecision,
  ALLOW,
  addSignature,
  decideCall,
  decideResult,
  writeFault,
  writeResult,
  writeServerHello,
} from '../../acs/write-decision.ts'
import { HMAC_KEY_BYTES_MIN } from '../../config/limits.ts'
import type { HookedCall } from '../../hooks/clients/hook-event.ts'
import { JSON_TYPE, type ResponseWriter } from '../exchange/response-writer.ts'
import type { HookGate, HookOrigin } from '../hooks/hook-gate.ts'
import { HOOK_BODY_BYTES_MAX, HOOK_NOTED_MAX } from '../hooks/limits.ts'
import { readBody } from './read-body.ts'

export interface AcsFrontOptions {
  readonly agents: Pick<Authenticator, 'findAgent'>
  /** Whether a server stands for an agent of ACS. */
  readonly isAgent: (server: string) => boolean
  readonly gate: Pick<HookGate, 'handle'>
  readonly chains: StepChains
  readonly approvals: Pick<ApprovalEngine, 'find'>
  readonly ledger: Pick<Ledger, 'event'>
  readonly nowMs: () => number
}

/** A request whose signature holds. */
interface SignedRequest {
  readonly request: AcsRequest
  readonly agent: AcsAgent
}

const KEY_BYTES = 32

export class AcsFront {
  readonly #options: AcsFrontOptions
  /** Calls whose result is still to come, by each name that the result may have for its call. */
  readonly #calls = new LruMap<string, HookedCall>(HOOK_NOTED_MAX)

  constructor(options: AcsFrontOptions) {
    this.#options = options
  }

  async serve(request: IncomingMessage, reply: ResponseWriter): Promise<void> {
    const send = (status: number, response: JsonObject) =>
      reply.send(status, JSON_TYPE, JSON.stringify(response))
    if (request.method !== 'POST') return reply.send(405, { allow: 'POST' })
    const body = await readBody(request, HOOK_BODY_BYTES_MAX)
    if (body.text === undefined)
      return send(
        body.status,
        writeFault(null, { code: ACS_CODE.invalidRequest, message: body.why }),
      )
    const read = readJson(body.text)
    if (!read.ok) {
      const message = `Parse error: ${read.message} (at character ${read.offset + 1})`
      return send(400, writeFault(null, { code: ACS_CODE.parse, message }))
    }
    // Numbers as doubles: canonical JSON is defined for these, and the strict reader has refused any that rounds.
    const value: JsonValue = JSON.parse(body.text)
    const envelope = readEnvelope(value)
    if ('code' in envelope) return send(400, writeFault(idOf(value), envelope))
    if (envelope.method === 'system/ping') return send(200, this.#ping(envelope))
    const agent = this.#options.agents.findAgent(envelope.agent)
    const key = agent && deriveSessionKey(agent, envelope)
    if (agent === undefined || key === undefined || !hasSignature(envelope, key)) {
      const message =
        'SIGNATURE_INVALID: the request is not signed with the key of a grant with `acs` whose name is its `metadata.agent_id`'
      return send(200, writeFault(envelope.id, { code: ACS_CODE.signature, message }))
    }
    const signed = { request: envelope, agent }
    const answer = await this.#answer(signed).catch((): AcsFault => {
      const message = 'the gate cannot decide now: nothing is allowed; try again'
      return { code: ACS_CODE.fault, message }
    })
    const response =
      'code' in answer
        ? writeFault(envelope.id, answer as AcsFault)
        : writeResult(envelope, answer as JsonObject)
    const signature = sign(key, toSignedText(response))
    send(200, addSignature(response, { ...signature, key_id: envelope.agent }))
  }

  /** Answers without a signature, since it proves nothing but that the gate runs. */
  #ping(request: AcsRequest): JsonObject {
    const { echo = '' } = request.payload
    const at = new Date(this.#options.nowMs()).toISOString()
    return writeResult(request, {
      decision: 'allow',
      payload: { status: 'ok', echo, server_timestamp: at },
    })
  }

  async #answer(signed: SignedRequest): Promise<JsonObject | AcsFault> {
    const { request } = signed
    const offMs = Math.round(Date.parse(request.timestamp) - this.#options.nowMs())
    const fault = findEnvelopeFault(request, offMs)
    if (fault !== undefined) return fault
    if (request.method === 'handshake/hello')
      return { decision: 'allow', payload: writeServerHello(ACS_METHODS) }
    const step = readStep(request)
    if ('code' in step) return step
    const chainHash = await this.#append(signed)
    if (chainHash === undefined)
      return {
        code: ACS_CODE.replay,
        message: `REPLAY_DETECTED: \`request_id\` \`${request.requestId}\` was used in this session`,
      }
    const decision = await this.#decide(step, signed)
    return { ...decision, chain_hash: chainHash }
  }

  /** The head of the session's chain with this request; undefined if the chain has it already. */
  async #append({ request, agent }: SignedRequest): Promise<string | undefined> {
    const requestHash = createHash('sha256').update(toRequestText(request)).digest('hex')
    const content = writeChainEntry(request, requestHash)
    const { chains, ledger, nowMs } = this.#options
    const entry = await chains.append({
      chain: chainOf(request),
      request: request.requestId,
      content,
    })
    if (entry === undefined) return undefined
    const { method, requestId, session } = request
    const detail = {
      principal: agent.caller.principal.id,
      server: agent.key.server,
      session,
      method,
      request: requestId,
      entry: entry.hash,
      previous: entry.previous ?? null,
    }
    await ledger.event({ atMs: nowMs(), name: 'acs', detail })
    return entry.hash
  }

  async #decide(step: AcsStep, { request, agent }: SignedRequest): Promise<AcsDecision> {
    const { gate, isAgent } = this.#options
    const { caller, key } = agent
    if (!isAgent(key.server))
      return { decision: 'deny', reasoning: `no server \`${key.server}\` has \`builtin: acs\`` }
    const { session } = request
    const origin: HookOrigin = {
      server: key.server,
      client: 'acs',
      caller,
      sessionKey: `acs ${session}`,
      isUsers: true,
    }
    if (step.kind === 'note') return ALLOW
    if (step.kind === 'event') {
      await gate.handle(step.event, origin)
      return ALLOW
    }
    if (step.kind === 'result') {
      const { output, isError } = step
      const call = this.#takeCall(step.ids, request) ?? {
        tool: step.tool,
        args: {},
        input: {},
        id: step.ids[0],
      }
      return decideResult(
        await gate.handle(
          { kind: 'after', event: isError ? 'failed' : 'after', session, call, output, isError },
          origin,
        ),
      )
    }
    const call: HookedCall = { ...step.call, input: step.call.args, id: step.id }
    const answer = await gate.handle({ kind: 'before', session, call }, origin)
    const decision = decideCall(answer, {
      args: call.args,
      remainingMsOf: (id) => this.#remainingMsOf(id),
    })
    const isAdmitted = answer.kind !== 'deny'
    if (step.kind === 'call') {
      if (isAdmitted) this.#noteCall(call, request)
      return decision
    }
    if (!isAdmitted) return decision
    const { output } = step
    const after = {
      kind: 'after',
      event: 'after',
      session,
      call,
      output,
      isError: false,
    } as const
    const said = decideResult(await gate.handle(after, origin))
    return said.decision === 'allow' ? decision : said
  }

  #remainingMsOf(id: string): number | undefined {
    const { approvals, nowMs } = this.#options
    const request = approvals.find(id)
    return request === undefined ? undefined : request.expiresAtMs - nowMs()
  }

  #noteCall(call: HookedCall, request: AcsRequest): void {
    for (const id of [request.requestId, call.id])
      if (id !== undefined) this.#calls.set(keyOf(request, id), call)
  }

  #takeCall(ids: readonly string[], request: AcsRequest): HookedCall | undefined {
    const keys = ids.map((id) => keyOf(request, id))
    return keys.map((key) => this.#calls.get(key)).find((call) => call !== undefined)
  }
}

function keyOf(request: AcsRequest, id: string): string {
  return JSON.stringify([chainOf(request), id])
}

/** HKDF-SHA256 without salt, for this session alone; undefined if the secret cannot be read, or if its file has become too
 * short since the start, as an emptied one: anybody knows that key. Files end with a line break that is no part of it. */
function deriveSessionKey({ key }: AcsAgent, { session }: AcsRequest): Buffer | undefined {
  try {
    const secret = readSecret(key.secret).trimEnd()
    if (Buffer.byteLength(secret) < HMAC_KEY_BYTES_MIN) return undefined
    return Buffer.from(hkdfSync('sha256', secret, '', session, KEY_BYTES))
  } catch {
    return undefined
  }
}

function sign(key: Buffer, text: string): { readonly algorithm: string; readonly value: string } {
  const value = createHmac('sha256', key).update(text).digest('base64')
  return { algorithm: 'HMAC-SHA256', value }
}

function hasSignature({ signed, signature }: AcsRequest, key: Buffer): boolean {
  if (signature === undefined) return false
  const [own, sent] = [sign(key, signed).value, signature].map((text) => Buffer.from(text))
  return own !== undefined && own.length === sent?.length && timingSafeEqual(own, sent)
}
