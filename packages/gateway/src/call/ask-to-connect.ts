// A call failed because its caller's person is not signed in at its server: a client that opens pages is asked to open the
// one where they sign in. A session gets the error that MCP 2025-11-25 has for it, a client of the stateless generation a
// question with its answer. Every other client reads the address in the text of the failure.

import { randomUUID } from 'node:crypto'
import type { JsonValue } from '@sluice/policy/values/json'
import type { RequestId } from '@sluice/protocol/message'
import { getMeta, META } from '@sluice/protocol/protocol-generation'
import { RPC } from '@sluice/protocol/rpc-codes'
import { writeResult } from '@sluice/protocol/write-message'
import { buildErrorReply, type RpcReply } from '../shared/error-reply.ts'
import { INPUT_ROUNDS_MAX } from '../shared/limits.ts'
import { listDeclaredCapabilities } from '../shared/server-questions.ts'
import type { UpstreamFailure } from '../upstream/upstream.ts'
import type { CallSession } from './call-session.ts'
import { MAY_WANT_INPUT } from './input-requests.ts'
import type { SentRequest } from './pending-requests.ts'

const OPENS_PAGES = 'elicitation.url'

/** The failure of a call, and the page that helps. */
export interface ConnectRequest {
  readonly id: RequestId
  /** In the words of the failure. */
  readonly message: string
  /** The page of the console where a person signs in at the server. */
  readonly url: string
  readonly data: JsonValue
}

/** Builds the reply that asks for the page; undefined if the client opens no pages, or was asked often enough. */
export function askToConnect(
  sent: SentRequest,
  { connectAt: url, message }: UpstreamFailure,
  data: JsonValue,
  { generation, handles, questions }: Pick<CallSession, 'generation' | 'handles' | 'questions'>,
): RpcReply | undefined {
  const { id, method, name, params, rounds } = sent
  const isTask = params?.value.task !== undefined
  if (url === undefined || isTask || !MAY_WANT_INPUT.has(method)) return undefined
  if (generation === 'session')
    return questions.declared.includes(OPENS_PAGES)
      ? buildConnectReply({ id, message, url, data })
      : undefined
  const declared = listDeclaredCapabilities(getMeta(params)[META.capabilities])
  if (!declared.includes(OPENS_PAGES) || rounds >= INPUT_ROUNDS_MAX) return undefined
  const retry = { number: rounds + 1, approval: '', shown: 'url' } as const
  const page = { mode: 'url', message, url }
  return { text: writeResult(id, handles.sealLeg({ method, name, params }, retry, page)) }
}

/** Whether a client with these capabilities opens pages. */
export function opensPages(capabilities: JsonValue | undefined): boolean {
  return listDeclaredCapabilities(capabilities).includes(OPENS_PAGES)
}

export function buildConnectReply({ id, message, url, data }: ConnectRequest): RpcReply {
  const page = { mode: 'url', elicitationId: randomUUID(), url, message }
  const elicitations = [page]
  const more = typeof data === 'object' && data !== null ? data : {}
  return buildErrorReply(id, RPC.urlElicitationRequired, message, { ...more, elicitations })
}
