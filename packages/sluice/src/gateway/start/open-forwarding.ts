// Requests between the gates of a cluster: passes on those of sessions that another gate has, and takes those
// of sessions that are here. Sessions that were taken over while this gate was away are ended here.

import { GATE_BEAT_MS } from '../../store/limits.ts'
import type { GateConfig } from '../config/config.ts'
import { digestSession, RequestForwarder } from '../front/forward/forward-requests.ts'
import { PeerListener } from '../front/forward/peer-listener.ts'
import type { HttpFront } from '../front/http/http-front.ts'
import type { SharedStore } from './open-shared-store.ts'

export class Forwarding {
  readonly forwarder: RequestForwarder
  readonly #config: GateConfig
  readonly #shared: SharedStore
  #listener: PeerListener | undefined
  #timer: NodeJS.Timeout | undefined

  constructor(config: GateConfig, shared: SharedStore, closing: AsyncDisposableStack) {
    this.#config = config
    this.#shared = shared
    const keyOf = (gate: string) => shared.peerKey(gate)
    const gate = config.cluster?.name ?? ''
    this.forwarder = new RequestForwarder({ gate, keyOf, store: shared.peers })
    closing.defer(() => {
      clearInterval(this.#timer)
      this.#listener?.close()
      this.forwarder.close()
    })
  }

  async listen(front: HttpFront): Promise<void> {
    const { cluster, host } = this.#config
    const shared = this.#shared
    const listener = new PeerListener({
      gate: this.forwarder.gate,
      host,
      address: cluster?.address,
      keyOf: (gate) => shared.peerKey(gate),
      take: (request, response, isLocal) => front.takeForwarded(request, response, isLocal),
    })
    this.#listener = listener
    shared.peer = await listener.listen()
    await shared.beat()
    const look = async (): Promise<void> => {
      const taken = new Set(await shared.peers.takenFromHere())
      if (taken.size > 0) front.closeTaken((id) => taken.has(digestSession(id).toString('hex')))
    }
    this.#timer = setInterval(() => void look().catch(() => {}), GATE_BEAT_MS).unref()
  }

  /** Other gates take sessions over from now on. What is open of these is answered here. */
  stopEndingTaken(): void {
    clearInterval(this.#timer)
  }
}
