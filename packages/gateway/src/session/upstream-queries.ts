// Questions of the gate's own to a server, such as for its list of tools. Each ends: by an answer,
// by the end of the session, or by time.

import { splitMembers } from '@sluice/protocol/json/raw-members'
import { patchObject, withMembers } from '@sluice/protocol/members'
import type { JsonRpcResponse, ParsedMembers, RequestId } from '@sluice/protocol/message'
import {
  META,
  type ProtocolGeneration,
  STATELESS_REVISION,
} from '@sluice/protocol/protocol-generation'
import { writeRequest } from '@sluice/protocol/write-message'
import { OWN_QUESTION_MS_MAX } from '../shared/limits.ts'
import type { Upstream } from '../upstream/upstream.ts'

export interface PendingQuery {
  readonly answered: (answer: JsonRpcResponse) => void
  readonly failed: (why: string) => void
}

export class UpstreamQueries {
  readonly #server: Upstream
  readonly #generation: ProtocolGeneration
  readonly #newId: () => RequestId
  /** The request that made the gate ask. */
  #for: ParsedMembers | undefined
  readonly #open = new Map<RequestId, PendingQuery>()

  constructor(server: Upstream, generation: ProtocolGeneration, newId: () => RequestId) {
    this.#server = server
    this.#generation = generation
    this.#newId = newId
  }

  /** In the stateless generation a request names its client and that client's capabilities. A session that begins
   * with it would else be one in which the server may ask nothing. */
  askFor(params: ParsedMembers | undefined): void {
    this.#for = params
  }

  /** Rejects if no answer comes. */
  async ask(method: string, params: Readonly<Record<string, string>>): Promise<JsonRpcResponse> {
    const id = this.#newId()
    const texts = Object.entries(params).map(
      ([key, value]) => [key, JSON.stringify(value)] as const,
    )
    const meta = this.#generation === 'session' ? {} : { _meta: this.#meta }
    const members = withMembers(undefined, { ...Object.fromEntries(texts), ...meta })
    const passing = { id, method, params: members }
    let timer: NodeJS.Timeout | undefined
    try {
      return await new Promise((answered, reject) => {
        const failed = (why: string) => reject(new Error(why))
        const late = `the server did not answer \`${method}\` within ${OWN_QUESTION_MS_MAX} ms`
        timer = setTimeout(() => failed(late), OWN_QUESTION_MS_MAX)
        this.#open.set(id, { answered, failed })
        if (!this.#server.send(writeRequest(id, method, members.text), { passing }))
          failed('the server is gone')
      })
    } finally {
      clearTimeout(timer)
      this.#open.delete(id)
    }
  }

  /** False if the answer is to somebody else's question. */
  answered(answer: JsonRpcResponse): boolean {
    const question = this.#open.get(answer.id as RequestId)
    question?.answered(answer)
    return question !== undefined
  }

  failed(id: RequestId | undefined, why: string): boolean {
    const question = this.#open.get(id as RequestId)
    question?.failed(why)
    return question !== undefined
  }

  end(why: string): void {
    for (const { failed } of this.#open.values()) failed(why)
  }

  get #meta(): string {
    const meta = splitMembers(this.#for?.text.get('_meta') ?? '{}')
    return patchObject('{}', {
      [META.version]: JSON.stringify(STATELESS_REVISION),
      [META.client]: meta.get(META.client) ?? '{"name":"sluice","version":"1"}',
      [META.capabilities]: meta.get(META.capabilities) ?? '{}',
    })
  }
}
