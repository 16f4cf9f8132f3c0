// One of the servers behind a client of all servers: started when it is needed, started again after it
// ended, never sooner than the restart delay allows. While it is away the others are not affected, and
// requests to it are answered with the reason.

import { TOOL_CALL } from '@sluice/policy/language/methods'
import { isObject, type JsonObject } from '@sluice/policy/values/json'
import { listExtensions } from '@sluice/protocol/extensions'
import { withMembers } from '@sluice/protocol/members'
import type {
  JsonRpcMessage,
  JsonRpcResponse,
  ParsedMembers,
  RequestId,
} from '@sluice/protocol/message'
import type { ProtocolGeneration } from '@sluice/protocol/protocol-generation'
import { SESSION_REVISIONS } from '@sluice/protocol/revisions'
import {
  type MemberLinkContext,
  MemberTransport,
  type SubscriptionListener,
} from '../front/sessions/member-transport.ts'
import { MEMBER_BEGIN_MS_MAX, MEMBER_WAIT_MS_MAX } from '../shared/limits.ts'
import { restartDelayMs } from '../shared/restart.ts'
import type { ClientEvents, ClientTransport, MessageContext } from '../shared/transport.ts'
import { withTimeout } from '../shared/with-timeout.ts'

/** What a server said of itself. */
export interface ServerProfile {
  readonly capabilities: JsonObject
  readonly instructions: string | undefined
}

export interface MemberContext extends Omit<MemberLinkContext, 'onEnd'> {
  readonly name: string
  /** Puts the gate between the link and the server. */
  readonly open: (link: ClientTransport) => ClientEvents
  /** `params` of the `initialize` or `server/discover` that the server gets. */
  readonly hello: () => ParsedMembers
  readonly onBegun: () => void
  /** It ended, or could not even begin. */
  readonly onGone: (why: string, wasThere: boolean) => void
}

export class AggregateMember {
  readonly name: string
  readonly #context: MemberContext
  #link: MemberTransport | undefined
  #begun: ServerProfile | undefined
  #beginning: Promise<ServerProfile> | undefined
  #why = 'it was not begun yet'
  #connectAt: string | undefined
  #beganMs = 0
  /** Not started again before this time. */
  #restUntilMs = 0
  #restMs: number | undefined
  /** Why it ended, where a tool had been called and no call was told of the end since. */
  #lost: string | undefined
  #called = false
  #over = false

  constructor(context: MemberContext) {
    this.name = context.name
    this.#context = context
  }

  /** Undefined while it is not there. */
  get begun(): ServerProfile | undefined {
    return this.#begun
  }

  /** Why it is not there. */
  get why(): string {
    return this.#why
  }

  /** The page where the person has to sign in at the server before it can begin. */
  get connectAt(): string | undefined {
    return this.#connectAt
  }

  /** Whether it has declared the capability, or the extension of this name. */
  has(capability: string): boolean {
    const { capabilities = {} } = this.#begun ?? {}
    return isObject(capabilities[capability] ?? listExtensions(capabilities)[capability])
  }

  /** Rejects with why it is not there. */
  begin(): Promise<ServerProfile> {
    if (this.#begun !== undefined) return Promise.resolve(this.#begun)
    if (this.#over || performance.now() < this.#restUntilMs)
      return Promise.reject(new Error(this.#why))
    this.#beginning ??= this.#start().finally(() => {
      this.#beginning = undefined
    })
    return this.#beginning
  }

  /** Once, if earlier calls went to a run of the server that has ended: its state is lost, and the caller
   * must know. */
  takeLoss(): string | undefined {
    const lost = this.#lost
    this.#lost = undefined
    return lost
  }

  ask(method: string, params: ParsedMembers): Promise<JsonRpcResponse> {
    const sent = this.#dressed(params)
    return this.#link?.ask(method, sent) ?? Promise.reject(new Error(this.#why))
  }

  /** A subscription, with how to give it up; undefined if it is not there. */
  listen(params: ParsedMembers, listener: SubscriptionListener): (() => void) | undefined {
    const link = this.#begun === undefined ? undefined : this.#link
    const id = link?.listen(this.#dressed(params), listener)
    return id === undefined ? undefined : () => link?.giveUp(id)
  }

  /** False if it is not there. */
  pass(message: JsonRpcMessage, related?: MessageContext): boolean {
    if (this.#begun === undefined || this.#link === undefined) return false
    if (message.kind === 'request' && message.method === TOOL_CALL) this.#called = true
    return this.#link.pass(message, related)
  }

  /** The client does not read what this server says, or does again. */
  pressed(isFull: boolean, request: RequestId | undefined): void {
    this.#link?.pressed(isFull, request)
  }

  end(why: string): void {
    this.#over = true
    this.#link?.close(why)
  }

  /** In the stateless generation every request says what the client can do. */
  #dressed(params: ParsedMembers): ParsedMembers {
    const { generation, hello } = this.#context
    return generation === 'session'
      ? params
      : withMembers(params, { _meta: hello().text.get('_meta') })
  }

  async #start(): Promise<ServerProfile> {
    const { generation, hello, onBegun, onGone, open } = this.#context
    const opening = generation === 'session' ? 'initialize' : 'server/discover'
    this.#beganMs = performance.now()
    const onEnd = (why: string) => this.#ended(why)
    let link: MemberTransport | undefined
    try {
      link = new MemberTransport({ ...this.#context, onEnd }, open)
      this.#link = link
      const { result, error } = await link.ask(opening, hello(), MEMBER_BEGIN_MS_MAX)
      this.#connectAt = readConnectPage(error?.data)
      if (result === undefined) throw new Error(error?.message ?? 'it did not begin')
      this.#begun = readBegun(result, generation)
      onBegun()
      return this.#begun
    } catch (error) {
      const { message } = error as Error
      if (link === undefined) this.#ended(message)
      link?.close(message)
      this.#link = undefined
      // Better words than those the end of the connection came with.
      this.#why = message
      if (!this.#over) onGone(message, false)
      throw error
    }
  }

  #ended(why: string): void {
    const wasThere = this.#begun !== undefined
    this.#link = undefined
    this.#begun = undefined
    this.#why = why
    if (this.#called) this.#lost = why
    this.#called = false
    const nowMs = performance.now()
    this.#restMs = restartDelayMs(this.#restMs, nowMs - this.#beganMs)
    this.#restUntilMs = nowMs + this.#restMs
    if (wasThere && !this.#over) this.#context.onGone(why, true)
  }
}

/** Reads from an error of the relay where to sign in at the server for this caller. */
function readConnectPage(data: unknown): string | undefined {
  const failure = isObject(data) ? data['sluice/upstream'] : undefined
  const page = isObject(failure) ? failure.connectAt : undefined
  return typeof page === 'string' ? page : undefined
}

/** Until it is there, or for a while. */
export async function waitFor(member: AggregateMember): Promise<void> {
  await withTimeout(
    member.begin().catch(() => undefined),
    MEMBER_WAIT_MS_MAX,
  )
}

/** Throws if a client would not go on with this server. */
function readBegun(resultText: string, generation: ProtocolGeneration): ServerProfile {
  const result = JSON.parse(resultText) as unknown
  const { protocolVersion, capabilities, instructions } = isObject(result) ? result : {}
  if (generation === 'session' && !SESSION_REVISIONS.includes(protocolVersion as string))
    throw new Error('it answered `initialize` with a protocol version that the gate does not speak')
  return {
    capabilities: isObject(capabilities) ? capabilities : {},
    instructions: typeof instructions === 'string' ? instructions : undefined,
  }
}
