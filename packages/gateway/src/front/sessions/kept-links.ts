// Links of the gate's own clients (agents, hooks) to servers behind it: one for each name, begun as an MCP
// session, and closed after a while without use. With them the parameters of a call and the reading of its
// reply, which are those of any client.

import { describeToCaller } from '@sluice/ledger/store/outage'
import { isObject, type JsonObject, type JsonValue } from '@sluice/policy/values/json'
import type { JsonRpcResponse, ParsedMembers } from '@sluice/protocol/message'
import { readMessages } from '@sluice/protocol/read-message'
import type { ClientEvents } from '../../shared/transport.ts'
import { beginSession } from './list-tools.ts'
import { MemberTransport } from './member-transport.ts'

export interface KeptLink {
  readonly link: MemberTransport
  /** Rejects if the server refuses the session. */
  readonly begun: Promise<void>
}

type TimedLink = KeptLink & { readonly idleTimer: NodeJS.Timeout }

export interface NewLink {
  /** What the link calls itself: the name of its session begins with it. */
  readonly client: string
  /** Puts the gate behind it. */
  readonly open: (link: MemberTransport) => ClientEvents
  readonly onEnd?: () => void
}

export class KeptLinks {
  /** Beyond `max` the oldest is closed. */
  readonly #options: { readonly max: number; readonly idleMs: number }
  readonly #links = new Map<string, TimedLink>()

  constructor(options: { readonly max: number; readonly idleMs: number }) {
    this.#options = options
  }

  /** The link of this name, or a new one. */
  use(key: string, made: NewLink): KeptLink {
    const kept = this.#links.get(key) ?? this.#open(key, made)
    kept.idleTimer.refresh()
    return kept
  }

  find(key: string): KeptLink | undefined {
    return this.#links.get(key)
  }

  close(why: string): void {
    for (const { link } of this.#links.values()) link.close(why)
  }

  #open(key: string, { client, open, onEnd }: NewLink): TimedLink {
    const [oldest] = this.#links.values()
    if (this.#links.size >= this.#options.max) oldest?.link.close('made room for another')
    const link = new MemberTransport(
      {
        generation: 'session',
        onAnswer: () => {},
        // No person is behind such a link to be asked.
        onNotification: () => {},
        onDrop: () => {},
        onEnd: () => {
          this.#links.delete(key)
          onEnd?.()
        },
      },
      open,
    )
    const idleTimer = setTimeout(() => link.close('idle'), this.#options.idleMs).unref()
    const kept = { link, begun: beginSession(link, client), idleTimer }
    kept.begun.catch((error: Error) => link.close(describeToCaller(error)))
    this.#links.set(key, kept)
    return kept
  }
}

/** Read as strictly as any client's: what is judged must be what is sent, and nobody inside says more than a
 * client may. Why not, if that is so. */
export function toCallParams(
  tool: string,
  args: unknown,
  meta: Readonly<Record<string, string>>,
): ParsedMembers | string {
  const params = { name: tool, arguments: args ?? {}, _meta: meta }
  try {
    const text = JSON.stringify({ jsonrpc: '2.0', id: 0, method: 'tools/call', params })
    const read = readMessages(text, { batches: false })
    if (!read.ok) return read.message
    const [message] = read.messages
    return (message?.kind === 'request' && message.params) || 'they are none'
  } catch (error) {
    return (error as Error).message
  }
}

export type CallReply =
  /** The gate refused it. `text` is what a model reads of it. */
  | { readonly kind: 'refused'; readonly decision: JsonObject; readonly text: string }
  | { readonly kind: 'unknown'; readonly text: string }
  | {
      readonly kind: 'result'
      readonly text: string
      readonly isError: boolean
      readonly structured?: JsonValue
    }

export function readCallReply({ result, error }: JsonRpcResponse): CallReply {
  if (error !== undefined) {
    const { message: text } = error
    const data = isObject(error.data) ? error.data : {}
    const decision = data['sluice/decision']
    if (isObject(decision)) return { kind: 'refused', decision, text }
    const upstream = data['sluice/upstream']
    const isUnknown = isObject(upstream) && upstream.repeatable !== true
    return isUnknown ? { kind: 'unknown', text } : { kind: 'result', text, isError: true }
  }
  const value = JSON.parse(result ?? '{}') as JsonObject
  const text = joinTextContent(value.content)
  const decision = isObject(value._meta) ? value._meta['sluice/decision'] : undefined
  if (isObject(decision)) return { kind: 'refused', decision, text }
  const { structuredContent: structured } = value
  const isError = value.isError === true
  return { kind: 'result', text, isError, ...(structured === undefined ? {} : { structured }) }
}

/** What a model can read of an answer; anything else as JSON. */
function joinTextContent(content: JsonValue | undefined): string {
  if (!Array.isArray(content)) return ''
  return content
    .map((part) =>
      isObject(part) && part.type === 'text' ? String(part.text) : JSON.stringify(part),
    )
    .join('\n')
}
