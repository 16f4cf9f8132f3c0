// Asking a server of which generation it is: `server/discover`, which only the stateless generation knows. Any error
// of that generation shows it as well; another answer shows a server with sessions; silence shows nothing.

import { withMembers } from '@sluice/protocol/members'
import type { JsonRpcMessage, JsonRpcResponse, RequestId } from '@sluice/protocol/message'
import { META, STATELESS_REVISION } from '@sluice/protocol/protocol-generation'
import { RPC } from '@sluice/protocol/rpc-codes'
import { writeRequest } from '@sluice/protocol/write-message'
import type {
  OutboundRequest,
  Upstream,
  UpstreamFailure,
  UpstreamSendOptions,
} from '../upstream.ts'

const PROBE = 'sluice-generation'
const OF_NEWER_SERVERS: ReadonlySet<number> = new Set([
  RPC.headerMismatch,
  RPC.missingCapability,
  RPC.unsupportedVersion,
])
/** It says nothing about the generation. */
const NOT_THE_GENERATION: ReadonlySet<string> = new Set([
  'UPSTREAM_UNREACHABLE',
  'UPSTREAM_NEEDS_LOGIN',
  'UPSTREAM_NEEDS_SCOPE',
  'UPSTREAM_TOKEN_REFUSED',
  'UPSTREAM_SECRET',
  'UPSTREAM_NOT_STARTED',
  'UPSTREAM_BUSY',
])

/** What came of a request; neither if the link was closed. */
export interface TrialResult {
  readonly answer?: JsonRpcResponse
  readonly failure?: UpstreamFailure
}

/** A request of the gate's own, as text and parsed. */
export interface OwnRequest {
  readonly text: string
  readonly carried: UpstreamSendOptions & { readonly passing: OutboundRequest }
}

export type ProbeResult = 'stateless' | 'session' | UpstreamFailure

export async function probeGeneration(trials: TrialRequests, link: Upstream): Promise<ProbeResult> {
  const meta = {
    [META.version]: STATELESS_REVISION,
    [META.client]: { name: 'sluice', version: '1' },
    [META.capabilities]: {},
  }
  const params = withMembers(undefined, { _meta: JSON.stringify(meta) })
  const passing = { id: PROBE, method: 'server/discover', params }
  const text = writeRequest(PROBE, passing.method, params.text)
  const { answer, failure } = await trials.send(link, { text, carried: { passing } })
  if (answer !== undefined) return isOfNewerServer(answer) ? 'stateless' : 'session'
  return failure === undefined || isAboutGeneration(failure) ? 'session' : failure
}

export function isAboutGeneration({ code }: UpstreamFailure): boolean {
  return !NOT_THE_GENERATION.has(code)
}

function isOfNewerServer({ error, result }: JsonRpcResponse): boolean {
  if (error !== undefined) return OF_NEWER_SERVERS.has(error.code)
  return result?.includes(`"${STATELESS_REVISION}"`) === true
}

/** Requests of the gate's own over a link, whose results do not reach the receiver of the link. The owner of
 * the link offers it every message, failure and the close first. */
export class TrialRequests {
  readonly #open = new Map<RequestId, (result: TrialResult) => void>()

  /** Settles with neither if the link is closed. */
  send(link: Upstream, { text, carried }: OwnRequest): Promise<TrialResult> {
    const { id } = carried.passing
    return new Promise((resolve) => {
      this.#open.set(id, (result) => {
        this.#open.delete(id)
        resolve(result)
      })
      if (!link.send(text, carried)) this.end(undefined)
    })
  }

  /** Whether the message was the answer to one of them. */
  takeAnswer(message: JsonRpcMessage): boolean {
    if (this.#open.size === 0 || message.kind !== 'answer') return false
    return this.#settle(message.id, { answer: message })
  }

  takeFailure(failure: UpstreamFailure): boolean {
    return this.#settle(failure.request, { failure })
  }

  #settle(id: RequestId | null | undefined, result: TrialResult): boolean {
    const settle = this.#open.get(id as RequestId)
    settle?.(result)
    return settle !== undefined
  }

  /** The link has closed, because of this failure if there is one. */
  end(failure: UpstreamFailure | undefined): void {
    for (const [request, settle] of [...this.#open])
      settle(failure === undefined ? {} : { failure: { ...failure, request } })
  }
}
