// A client of the Agent Control Standard 0.1.0 without dependencies: signs each step of an agent, sends it to the gate
// and checks that the answer is the gate's, and to this step. Copy this file into an agent of your own. Whatever goes
// wrong is a denial: an agent that went on without a decision would have no gate.

import { createHmac, hkdfSync, randomUUID, timingSafeEqual } from 'node:crypto'

type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json }
type JsonObject = { readonly [key: string]: Json }

export interface AcsOptions {
  /** `https://gate.example.com/acs` */
  readonly url: string
  /** The name of the grant. */
  readonly agent: string
  /** The key that `sluice grants add NAME --acs` has made. */
  readonly key: string
  /** Kept with a run that is saved, so that it goes on in its session. */
  readonly session?: string
}

/** A call that the agent wants to make. */
export interface ToolCall {
  /** The model's id of the call: the same when it is asked again. */
  readonly id: string
  readonly tool: string
  readonly args: JsonObject
}

export type Verdict =
  /** `args`: with what to make the call; an approver may have changed them. `step` is for `result`. */
  | { readonly is: 'allowed'; readonly args: JsonObject; readonly step: string }
  | { readonly is: 'denied'; readonly reason: string }
  /** Ask again later, with the same call. */
  | { readonly is: 'waiting'; readonly reason: string; readonly approval: string | undefined }

interface Decision {
  readonly decision?: string
  readonly reasoning?: string
  readonly modifications?: {
    readonly parameter_overrides?: JsonObject
    readonly modified_content?: string
  }
  readonly policy_data?: { readonly sluice?: { readonly approvalId?: string } }
}

export class AcsClient {
  readonly session: string
  readonly #options: AcsOptions
  readonly #key: Buffer
  #timeoutMs = 5_000

  constructor(options: AcsOptions) {
    this.#options = options
    this.session = options.session ?? randomUUID()
    this.#key = Buffer.from(hkdfSync('sha256', options.key.trimEnd(), '', this.session, 32))
  }

  /** Throws if there is no gate that this agent may ask. */
  async start(): Promise<void> {
    const hello = await this.#send('handshake/hello', {
      acs_versions_supported: ['0.1.0'],
      methods_implemented: ['steps/toolCallRequest', 'steps/toolCallResult', 'steps/userMessage'],
      transports_supported: ['http'],
      provenance_producer: 'none',
      profiles_supported: ['acs-core'],
    })
    const { timeout_config: times } = hello.payload as { timeout_config: { default_ms: number } }
    this.#timeoutMs = times.default_ms
    await this.#send('steps/sessionStart', {})
  }

  /** What the user has asked for. */
  async say(text: string): Promise<void> {
    await this.#send('steps/userMessage', { content: [{ type: 'text', value: text }] })
  }

  async ask({ id, tool, args }: ToolCall): Promise<Verdict> {
    const step = randomUUID()
    const wrapped = Object.entries(args).map(([name, value]) => [name, { value }])
    const payload = {
      tool: { name: tool },
      execution_id: id,
      arguments: Object.fromEntries(wrapped),
    }
    try {
      const decision: Decision = await this.#send('steps/toolCallRequest', payload, step)
      const reason = decision.reasoning ?? 'no reason given'
      if (decision.decision === 'allow') return { is: 'allowed', args, step }
      const overrides = decision.modifications?.parameter_overrides
      if (decision.decision === 'modify' && overrides !== undefined)
        return { is: 'allowed', args: { ...args, ...overrides }, step }
      if (decision.decision !== 'defer') return { is: 'denied', reason }
      return { is: 'waiting', reason, approval: decision.policy_data?.sluice?.approvalId }
    } catch (error) {
      return { is: 'denied', reason: (error as Error).message }
    }
  }

  /** What the model may read of the answer of a tool. */
  async result(step: string, tool: string, output: Json, isError = false): Promise<Json> {
    const payload = {
      tool: { name: tool },
      request_id_ref: step,
      exit_status: isError ? 'failure' : 'success',
      outputs: [{ value: output }],
    }
    try {
      const decision: Decision = await this.#send('steps/toolCallResult', payload)
      if (decision.decision === 'allow') return output
      return decision.modifications?.modified_content ?? decision.reasoning ?? 'withheld'
    } catch (error) {
      return `the answer is withheld: ${(error as Error).message}`
    }
  }

  async end(): Promise<void> {
    await this.#send('steps/sessionEnd', { reason: 'completed' })
  }

  async #send(method: string, payload: JsonObject, step = randomUUID()): Promise<JsonObject> {
    const { agent, url } = this.#options
    const params = {
      acs_version: '0.1.0',
      request_id: step,
      timestamp: new Date().toISOString(),
      metadata: { agent_id: agent, session_id: this.session },
      payload,
    }
    const request = { jsonrpc: '2.0', id: step, method, params }
    const signature = { algorithm: 'HMAC-SHA256', value: this.#sign(request), key_id: agent }
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ ...request, params: { ...params, signature } }),
      signal: AbortSignal.timeout(this.#timeoutMs),
    })
    return this.#read((await response.json()) as JsonObject, step)
  }

  /** Throws if the answer is an error, not the gate's, or to another step. */
  #read(response: JsonObject, step: string): JsonObject {
    const holder = 'error' in response ? 'error' : 'result'
    const { signature, ...rest } = response[holder] as JsonObject
    const { value = '' } = (signature ?? {}) as { value?: string }
    const own = Buffer.from(this.#sign({ ...response, [holder]: rest }))
    const sent = Buffer.from(value)
    const why = holder === 'error' ? `${rest.message}` : ''
    if (own.length !== sent.length || !timingSafeEqual(own, sent))
      throw new Error(`the answer is not signed by the gate: ${why}`)
    if (why !== '') throw new Error(why)
    if (response.id !== step || rest.request_id !== step)
      throw new Error('the answer is to another step')
    return rest
  }

  #sign(value: Json): string {
    return createHmac('sha256', this.#key).update(canonical(value)).digest('base64')
  }
}

/** Canonical JSON (RFC 8785): names in the order of their UTF-16 code units, no spaces. */
function canonical(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const names = Object.keys(value).sort()
  return `{${names.map((name) => `${JSON.stringify(name)}:${canonical((value as JsonObject)[name] as Json)}`).join(',')}}`
}
