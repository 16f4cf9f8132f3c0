// An adapter between a server that the test plays and the relay's side of it, which keeps what it receives.

import { withMembers } from '@sluice/protocol/members'
import type { JsonRpcMessage, JsonRpcResponse, RequestId } from '@sluice/protocol/message'
import { writeRequest } from '@sluice/protocol/write-message'
import type { MessageContext } from '../../shared/transport.ts'
import { ScriptedLink, settled } from '../scripted-link.test-support.ts'
import type { Upstream, UpstreamEvents, UpstreamFailure } from '../upstream.ts'
import type { UpstreamAdapter } from './upstream-adapter.ts'

type AdapterParameters = ConstructorParameters<typeof UpstreamAdapter>

export class AdapterBridge<Adapter extends Upstream> {
  readonly server = new ScriptedLink()
  readonly received: { message: JsonRpcMessage; related: MessageContext | undefined }[] = []
  readonly failures: UpstreamFailure[] = []
  readonly begun: boolean[] = []
  readonly link: Adapter
  hear: UpstreamEvents['onMessage'] = (message, related) =>
    void this.received.push({ message, related })
  #lastId = 0

  constructor(adapt: (...parameters: AdapterParameters) => Adapter) {
    this.link = adapt(
      this.server.connect,
      { log: () => {}, onBegun: (hasBegun) => void this.begun.push(hasBegun) },
      {
        onMessage: (message, related) => this.hear(message, related),
        onFailure: (failure) => void this.failures.push(failure),
        onClose() {},
      },
    )
  }

  async ask(method: string, params: Record<string, unknown> = {}): Promise<RequestId> {
    const id = ++this.#lastId
    const texts = Object.entries(params).map(([key, value]) => [key, JSON.stringify(value)])
    const members = withMembers(undefined, Object.fromEntries(texts))
    const passing = { id, method, params: members }
    this.link.send(writeRequest(id, method, members.text), { passing })
    await settled()
    return id
  }

  call(more: Record<string, unknown> = {}): Promise<RequestId> {
    return this.ask('tools/call', { name: 'a', arguments: {}, ...more })
  }

  to(id: RequestId): JsonRpcResponse {
    const answers = this.received.map(({ message }) => message)
    const found = answers.find((each) => each.kind === 'answer' && each.id === id)
    if (found === undefined) throw new Error(`no answer to ${id}`)
    return found as JsonRpcResponse
  }
}
