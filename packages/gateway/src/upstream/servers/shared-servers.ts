// Processes that sessions share, by server and, if the configuration says so, by principal. Each
// ends when no session has used it for a while; the next that needs it starts another.

import type { Upstream, UpstreamEvents } from '../upstream.ts'
import { SharedServer } from './shared-server.ts'

/** How easily a process can be done without; undefined: not now. */
export type FindSpare = () => number | undefined

type SharedProcessStarter = (spare: FindSpare, events: UpstreamEvents) => Upstream

interface SharedProcess {
  readonly server: SharedServer
  /** How each session that uses it says what it can spare. */
  readonly spares: Map<Upstream, FindSpare>
  lastUsedMs: number
  idleTimer?: NodeJS.Timeout | undefined
}

export class SharedServers {
  readonly #idleMs: number
  readonly #processes = new Map<string, SharedProcess>()
  /** Servers that live, those included that only have to end. */
  readonly #living = new Set<SharedServer>()

  constructor(idleMs: number) {
    this.#idleMs = idleMs
  }

  attach(
    key: string,
    { spare, start }: { readonly spare: FindSpare; readonly start: SharedProcessStarter },
    events: UpstreamEvents,
  ): Upstream {
    const shared = this.#processes.get(key) ?? this.#start(key, start)
    clearTimeout(shared.idleTimer)
    const link = shared.server.attach(events)
    shared.spares.set(link, spare)
    void link.ended.then(() => shared.spares.delete(link))
    return link
  }

  #start(key: string, start: SharedProcessStarter): SharedProcess {
    const spares = new Map<Upstream, FindSpare>()
    const forget = (): void => {
      clearTimeout(shared.idleTimer)
      if (this.#processes.get(key) === shared) this.#processes.delete(key)
    }
    const spare = () => sparedBy([...spares.values()], shared.lastUsedMs)
    const server = new SharedServer((events) => start(spare, events), {
      onIdle: () => {
        shared.lastUsedMs = performance.now()
        shared.idleTimer = setTimeout(() => server.close('idle for too long'), this.#idleMs).unref()
      },
      // At once, and not when its process has exited: a session that connects in between gets another.
      onClose: forget,
    })
    const shared: SharedProcess = { server, spares, lastUsedMs: performance.now() }
    this.#processes.set(key, shared)
    this.#living.add(server)
    void server.ended.then(() => this.#living.delete(server))
    return shared
  }

  /** Ends every one of them, and waits until nothing of any is left. */
  async close(why: string): Promise<void> {
    const servers = [...this.#living]
    for (const server of servers) server.close(why)
    await Promise.all(servers.map(({ ended }) => ended))
  }
}

/** A server is spared as easily as the session that needs it most spares it. */
function sparedBy(spares: readonly FindSpare[], lastUsedMs: number): number | undefined {
  let most = lastUsedMs
  for (const spare of spares) {
    const one = spare()
    if (one === undefined) return undefined
    most = Math.max(most, one)
  }
  return most
}
