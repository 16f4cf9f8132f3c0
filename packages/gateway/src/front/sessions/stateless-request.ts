// A POST of the stateless generation before it goes anywhere: whether it is one, and whether it says of
// itself what the protocol wants. Headers and body must say the same, or a balancer in front and the
// server behind would see two calls.

import type { IncomingHttpHeaders } from 'node:http'
import { decodeValue, nameIn } from '@sluice/protocol/mcp-headers'
import type { JsonRpcMessage, JsonRpcRequest } from '@sluice/protocol/message'
import {
  checkStatelessMeta,
  getVersion,
  META,
  type ProtocolGeneration,
  STATELESS_REVISION,
} from '@sluice/protocol/protocol-generation'
import { SESSION_REVISIONS } from '@sluice/protocol/revisions'
import { RPC } from '@sluice/protocol/rpc-codes'
import { BASE64 } from '../../shared/base64.ts'
import { buildErrorReply, type RpcReply } from '../../shared/error-reply.ts'

const ALL_REVISIONS: readonly string[] = [...SESSION_REVISIONS, STATELESS_REVISION]

/** Whether a POST is stateless, by its header or by what it carries. */
export function isStatelessPost(
  headers: IncomingHttpHeaders,
  messages: readonly JsonRpcMessage[],
): boolean {
  const version = headers['mcp-protocol-version']
  if (typeof version === 'string' && !SESSION_REVISIONS.includes(version)) return true
  return messages.some((each) => each.kind === 'request' && getVersion(each) !== undefined)
}

/** Why the version that the header says is none. A request that says one in `_meta` as well is
 * compared with that instead. */
export function checkVersion(
  headers: IncomingHttpHeaders,
  message: JsonRpcMessage,
): RpcReply | undefined {
  const version = headers['mcp-protocol-version']
  if (typeof version !== 'string' || ALL_REVISIONS.includes(version)) return undefined
  const isRequest = message.kind === 'request'
  if (isRequest && getVersion(message) !== undefined) return undefined
  const requested = version.slice(0, 100)
  const text = `the header \`MCP-Protocol-Version\` says \`${requested}\`, which is not spoken here`
  const data = { supported: ALL_REVISIONS, requested }
  return buildErrorReply(isRequest ? message.id : null, RPC.unsupportedVersion, text, data)
}

/** Why a request does not belong into a conversation of this generation, whatever carries it. */
export function rejectWrongGeneration(
  generation: ProtocolGeneration,
  request: JsonRpcRequest,
): RpcReply | undefined {
  const { id } = request
  if (generation === 'session') {
    if (getVersion(request) === undefined) return undefined
    const text = `this connection has a session: a request of ${STATELESS_REVISION} is not for it`
    return buildErrorReply(id, RPC.invalidRequest, text)
  }
  const fault = checkStatelessMeta(request)
  if (fault === undefined) return undefined
  if (fault === 'unsupported') {
    const requested = String(getVersion(request)).slice(0, 100)
    const text = `protocol version \`${requested}\` is not spoken here`
    const data = { supported: [STATELESS_REVISION], requested }
    return buildErrorReply(id, RPC.unsupportedVersion, text, data)
  }
  const key = fault === 'version' ? META.version : META.capabilities
  return buildErrorReply(id, RPC.invalidParams, `\`_meta\` must have \`${key}\``)
}

/** Why a POST is no request of the stateless generation; every answer here goes with status 400. */
export function rejectStatelessPost(
  headers: IncomingHttpHeaders,
  request: JsonRpcRequest,
): RpcReply | undefined {
  const { id, method, params } = request
  const unlike = (what: string) => buildErrorReply(id, RPC.headerMismatch, what)
  const version = headers['mcp-protocol-version']
  const claimed = getVersion(request)
  if (typeof claimed === 'string' && version !== claimed)
    return unlike(
      `\`MCP-Protocol-Version\` is ${describeHeader(version)}, \`_meta\` says \`${claimed.slice(0, 40)}\``,
    )
  const refused = rejectWrongGeneration('stateless', request)
  if (refused !== undefined) return refused
  if (headers['mcp-method'] !== method)
    return unlike(
      `\`Mcp-Method\` is ${describeHeader(headers['mcp-method'])}, the body says \`${method}\``,
    )
  const name = nameIn(method, params)
  const header = headers['mcp-name']
  if (name === undefined)
    return header === undefined ? undefined : unlike('`Mcp-Name` names nothing')
  if (typeof header !== 'string') return unlike('`Mcp-Name` is missing')
  if (decodeValue(header, BASE64) !== name) return unlike('`Mcp-Name` is not what the body says')
  return undefined
}

/** Why headers that repeat the body do not. A session wants none, but a balancer in front of the gate
 * goes by those it sees. */
export function findHeaderBodyMismatch(
  headers: IncomingHttpHeaders,
  messages: readonly JsonRpcMessage[],
): string | undefined {
  const { 'mcp-method': method, 'mcp-name': name } = headers
  if (method === undefined && name === undefined) return undefined
  const [message] = messages
  if (message === undefined || messages.length > 1 || message.kind === 'answer')
    return '`Mcp-Method` and `Mcp-Name` are for one request'
  if (method !== undefined && method !== message.method)
    return `\`Mcp-Method\` is ${describeHeader(method)}, the body says \`${message.method.slice(0, 100)}\``
  if (name === undefined) return undefined
  const decoded = typeof name === 'string' ? decodeValue(name, BASE64) : undefined
  const claimed = nameIn(message.method, message.params)
  return decoded !== undefined && decoded === claimed
    ? undefined
    : '`Mcp-Name` is not what the body says'
}

function describeHeader(header: string | string[] | undefined): string {
  return typeof header === 'string' ? `\`${header.slice(0, 100)}\`` : 'missing'
}

/** Requests with equal heads share one object: it is read once. */
const known = new WeakMap<IncomingHttpHeaders, ReadonlyMap<string, string>>()

/** The headers that repeat arguments. */
export function paramHeaders(headers: IncomingHttpHeaders): ReadonlyMap<string, string> {
  const before = known.get(headers)
  if (before !== undefined) return before
  const members = Object.entries(headers).filter(([name]) => name.startsWith('mcp-param-'))
  const found = new Map(members.map(([name, value]) => [name, String(value)]))
  known.set(headers, found)
  return found
}
