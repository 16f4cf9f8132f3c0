// A server whose agents are replaced by the built-in ones (`builtin: agents` beside a `command` or `url`): two
// links under one name. Calls of the agents' tools and reads of `agent://` go to the built-in server, all else to
// the other; what both list is merged, and the other's tools of the same names do not exist. One per session,
// outside of processes that sessions share: the built-in server knows the caller and its labels.

import { isObject, type JsonObject } from '@sluice/policy/values/json'
import { splitElements, splitMembers } from '@sluice/protocol/json/raw-members'
import { patchObject } from '@sluice/protocol/members'
import type { JsonRpcMessage, RequestId } from '@sluice/protocol/message'
import { writeResult } from '@sluice/protocol/write-message'
import { AGENT_TOOL } from '../../config/builtin-tools.ts'
import type { MessageContext } from '../../shared/transport.ts'
import type { Upstream, UpstreamEvents, UpstreamFailure, UpstreamSendOptions } from '../upstream.ts'
import { UpstreamAdapter } from './upstream-adapter.ts'

/** Lists that both servers may have, by the member of the result that holds them. */
const LISTS: Readonly<Record<string, string>> = {
  'tools/list': 'tools',
  'resources/list': 'resources',
  'resources/templates/list': 'resourceTemplates',
}
const BEGINNINGS = ['initialize', 'server/discover']
const AGENT_TASK = /^agent_[\w-]+\.[\w-]+$/

interface MergedRequest {
  readonly method: string
  /** The built-in server's result; `{}` if it refused. */
  own: string | undefined
  other: JsonRpcMessage | undefined
}

type Connect = (events: UpstreamEvents) => Upstream

export class OverlaidUpstream extends UpstreamAdapter {
  readonly #own: Upstream
  readonly #merging = new Map<RequestId, MergedRequest>()

  constructor(connectOwn: Connect, connectOther: Connect, events: UpstreamEvents) {
    super(connectOther, { log() {}, onBegun() {} }, events)
    this.#own = connectOwn({
      onMessage: (message) => this.#fromOwn(message),
      onFailure: (failure) => this.failed(failure),
      onClose: (why) => this.close(why),
    })
  }

  override get ended(): Promise<void> {
    return Promise.all([this.#own.ended, super.ended]).then(() => {})
  }

  override send(text: string, carried?: UpstreamSendOptions): boolean {
    const {
      id,
      method,
      params = {},
    } = JSON.parse(text) as {
      id?: RequestId
      method?: string
      params?: JsonObject
    }
    // A notification concerns both; an answer is for the only one that asks.
    if (id === undefined) this.#own.send(text, carried)
    else if (method !== undefined) {
      if (isForAgents(method, params)) return this.#own.send(text, carried)
      this.#prepareMerge(id, method, params, () => this.#own.send(text, carried))
    }
    return this.inner.send(text, carried)
  }

  override abort(request: RequestId): void {
    this.#merging.delete(request)
    this.#own.abort(request)
    this.inner.abort(request)
  }

  protected override over(why: string): void {
    this.#own.close(why)
  }

  #prepareMerge(id: RequestId, method: string, params: JsonObject, sendOwn: () => void): void {
    if (LISTS[method] === undefined && !BEGINNINGS.includes(method)) return
    // What the built-in server lists is in the first page.
    const isFirst = params.cursor === undefined
    this.#merging.set(id, { method, own: isFirst ? undefined : '{}', other: undefined })
    if (isFirst) sendOwn()
  }

  #fromOwn(message: JsonRpcMessage): void {
    const merged = this.#mergedBy(message)
    if (message.kind !== 'answer' || merged === undefined) return this.events.onMessage(message)
    merged.own = message.result ?? '{}'
    this.#merge(message.id as RequestId, merged)
  }

  protected override fromServer(message: JsonRpcMessage, related?: MessageContext): void {
    const merged = this.#mergedBy(message)
    if (message.kind !== 'answer' || merged === undefined)
      return this.events.onMessage(message, related)
    merged.other = message
    this.#merge(message.id as RequestId, merged)
  }

  #mergedBy(message: JsonRpcMessage): MergedRequest | undefined {
    return message.kind === 'answer' ? this.#merging.get(message.id as RequestId) : undefined
  }

  #merge(id: RequestId, { method, own, other }: MergedRequest): void {
    if (own === undefined || other?.kind !== 'answer') return
    this.#merging.delete(id)
    if (other.result === undefined) return this.events.onMessage(other)
    const list = LISTS[method]
    const result =
      list === undefined ? mergeBeginnings(own, other.result) : mergeLists(list, own, other.result)
    this.events.onMessage({ ...other, result, source: writeResult(id, result) })
  }

  protected override failed(failure: UpstreamFailure): void {
    this.#merging.delete(failure.request as RequestId)
    this.events.onFailure(failure)
  }
}

function isForAgents(method: string, { name, uri, taskId }: JsonObject): boolean {
  if (method === 'tools/call') return AGENT_TOOL.test(String(name))
  if (method.startsWith('tasks/')) return AGENT_TASK.test(String(taskId))
  return method.startsWith('resources/') && String(uri).startsWith('agent://')
}

/** The other server's, with what only the built-in one can do. Texts, so that nothing is written differently. */
function mergeBeginnings(own: string, theirs: string): string {
  const capabilities = splitMembers(own).get('capabilities')
  const added = Object.fromEntries(splitMembers(capabilities ?? '{}'))
  const others = Object.fromEntries(splitMembers(splitMembers(theirs).get('capabilities') ?? '{}'))
  return patchObject(theirs, { capabilities: patchObject('{}', { ...added, ...others }) })
}

/** Definitions are joined as texts: their pins are of what the server wrote. */
function mergeLists(list: string, own: string, theirs: string): string {
  const elements = (result: string) => [...splitElements(splitMembers(result).get(list) ?? '[]')]
  const others = elements(theirs).filter((each) => list !== 'tools' || !isAgentTool(each))
  return patchObject(theirs, { [list]: `[${[...elements(own), ...others].join(',')}]` })
}

function isAgentTool(definition: string): boolean {
  const value: unknown = JSON.parse(definition)
  return isObject(value) && AGENT_TOOL.test(String(value.name))
}
