// A client of all servers without any wire: what it is told is kept, and servers are functions from a
// request to an answer, behind links as the gate would open them.

import type { JsonRpcMessage, JsonRpcRequest, RequestId } from '@sluice/protocol/message'
import type { ProtocolGeneration } from '@sluice/protocol/protocol-generation'
import { readMessages } from '@sluice/protocol/read-message'
import { writeError, writeResult } from '@sluice/protocol/write-message'
import type { ToolMode } from '../shared/tool-mode.ts'
import type { ClientEvents, ClientTransport, MessageContext } from '../shared/transport.ts'
import { AggregateSession } from './aggregate-session.ts'

/** The value of a result; undefined answers nothing, a string is an error. */
export type Server = (
  method: string,
  params: Record<string, unknown>,
) => object | string | undefined

interface ReceivedMessage {
  id?: RequestId
  method?: string
  params?: Record<string, unknown>
  // biome-ignore lint/suspicious/noExplicitAny: what the gate said, taken apart by the test
  result?: any
  error?: { code: number; message: string }
}

export class AllServersClient {
  readonly received: ReceivedMessage[] = []
  readonly log: string[] = []
  readonly links = new Map<string, ClientTransport>()
  /** Requests as the servers got them. */
  readonly got: { server: string; request: JsonRpcRequest; related: MessageContext | undefined }[] =
    []
  /** Servers that were told something: that a request is no longer wanted. */
  readonly cancelled: string[] = []
  readonly link: ClientTransport
  readonly session: AggregateSession
  readonly endedServers: string[] = []
  ended = false
  #lastId = 0

  constructor(
    servers: Record<string, Server>,
    generation: ProtocolGeneration = 'session',
    mode?: ToolMode,
  ) {
    this.link = {
      generation,
      revision: '',
      spare: undefined,
      send: (text) => {
        this.received.push(JSON.parse(text))
        return true
      },
      drop() {},
      close: (why) => this.session.events.onClose(why),
    }
    this.session = new AggregateSession(this.link, {
      send: (text, related) => this.link.send(text, related),
      servers: () => Object.keys(servers),
      mode,
      open: (name, link) => this.#serve(name, servers[name] as Server, link),
      onEnd: () => {
        this.ended = true
      },
      onLimit: (server, why) => this.log.push(`${server}: ${why}`),
      log: (_level, text, fields) => this.log.push(`${fields?.server ?? ''}: ${text}`),
    })
  }

  /** Sends at once; the answer comes when it comes. */
  ask(method: string, params: object = {}): RequestId {
    const id = ++this.#lastId
    this.say({ id, method, params })
    return id
  }

  say(message: object): void {
    this.sayText(JSON.stringify({ jsonrpc: '2.0', ...message }))
  }

  sayText(text: string, related?: MessageContext): void {
    const read = readMessages(text, { batches: false })
    if (!read.ok) throw new Error(read.message)
    this.session.events.onMessage(read.messages[0] as JsonRpcMessage, related)
  }

  answerTo(id: RequestId): ReceivedMessage | undefined {
    return this.received.find((each) => each.id === id && each.method === undefined)
  }

  #serve(name: string, server: Server, link: ClientTransport): ClientEvents {
    this.links.set(name, link)
    return {
      onMessage: (message, related) => {
        if (message.kind === 'notification') this.cancelled.push(name)
        if (message.kind !== 'request') return
        this.got.push({ server: name, request: message, related })
        const { id } = message
        const answer = server(message.method, { ...message.params?.value })
        if (answer === undefined) return
        const text =
          typeof answer === 'string'
            ? writeError(id, -32603, answer)
            : writeResult(id, JSON.stringify(answer))
        queueMicrotask(() => link.send(text, { request: id, answers: true }))
      },
      onClose: () => void this.endedServers.push(name),
      onPressure() {},
    }
  }
}

/** A server with these tools, which says which of them was called. */
export function toolServer(names: readonly string[], pageSize = names.length): Server {
  return (method, params) => {
    if (method === 'initialize') return begun({ tools: {} })
    if (method === 'tools/list') {
      const from = Number(params.cursor ?? 0)
      const next = from + pageSize < names.length ? { nextCursor: String(from + pageSize) } : {}
      return { tools: names.slice(from, from + pageSize).map((name) => ({ name })), ...next }
    }
    return { called: params.name }
  }
}

export function begun(capabilities: object): object {
  return { protocolVersion: '2025-11-25', capabilities }
}
