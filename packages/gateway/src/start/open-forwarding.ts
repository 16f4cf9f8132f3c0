// What other gates of a cluster ask of this one: takes requests of sessions that are here and requests about agents that
// run here. Sessions that were taken over while this gate was away are ended here.

import type { IncomingMessage, ServerResponse } from 'node:http'
import { GATE_BEAT_MS } from '@sluice/ledger/store/limits'
import type { GateConfig } from '../config/config.ts'
import { digestSession, readWhole } from '../front/forward/forward-requests.ts'
import { AGENTS_PATH, PeerListener } from '../front/forward/peer-listener.ts'
import type { HttpFront } from '../front/http/http-front.ts'
import type { SharedStore } from './open-shared-store.ts'

export class Forwarding {
  readonly #config: GateConfig
  readonly #shared: SharedStore
  #listener: PeerListener | undefined
  #timer: NodeJS.Timeout | undefined

  constructor(config: GateConfig, shared: SharedStore, closing: AsyncDisposableStack) {
    this.#config = config
    this.#shared = shared
    closing.defer(() => {
      clearInterval(this.#timer)
      this.#listener?.close()
    })
  }

  /** A gate for pipes alone has no sessions that other gates could meet. */
  async listen(front?: HttpFront): Promise<void> {
    const { cluster, host } = this.#config
    const shared = this.#shared
    const listener = new PeerListener({
      gate: shared.forwarder.gate,
      host,
      address: cluster?.address,
      keyOf: (gate) => shared.peerKey(gate),
      take: (request, response, isLocal) => {
        if (request.url === AGENTS_PATH) void this.#serveAgents(request, response)
        else if (front !== undefined) front.takeForwarded(request, response, isLocal)
        else response.writeHead(404).end()
      },
    })
    this.#listener = listener
    shared.peer = await listener.listen()
    await shared.beat()
    if (front === undefined) return
    const look = async (): Promise<void> => {
      const taken = new Set(await shared.peers.takenFromHere())
      if (taken.size > 0) front.closeTaken((id) => taken.has(digestSession(id).toString('hex')))
    }
    this.#timer = setInterval(() => void look().catch(() => {}), GATE_BEAT_MS).unref()
  }

  async #serveAgents(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      const body = await readWhole(request)
      const { serve } = this.#shared.agents
      // It is starting or stopping, and has done nothing.
      if (serve === undefined) response.writeHead(503).end()
      else response.end(await serve(body))
    } catch {
      response.destroy()
    }
  }

  /** Other gates take sessions over from now on. What is open of these is answered here. */
  stopEndingTaken(): void {
    clearInterval(this.#timer)
  }
}
