// Processes that sessions share, by server and, where the configuration says so, by principal. Each
// takes one place of the gate's processes, and ends when nobody has used it for a while.

import { PROCESS_SESSION_IDLE_MS } from '../../limits.ts'
import type { ProcessRoom } from '../../run/process-room.ts'
import type { UpstreamLink } from '../upstream.ts'
import { SharedServer } from './shared-server.ts'

interface Kept {
  readonly server: SharedServer
  idleTimer?: NodeJS.Timeout | undefined
}

export class SharedServers {
  readonly #room: ProcessRoom
  readonly #kept = new Map<string, Kept>()

  constructor(room: ProcessRoom) {
    this.#room = room
  }

  /** Undefined where there is no room for one more process. */
  attach(key: string, owner: string, start: () => UpstreamLink): UpstreamLink | undefined {
    const kept = this.#kept.get(key) ?? this.#start(key, owner, start)
    clearTimeout(kept?.idleTimer)
    return kept?.server.attach()
  }

  #start(key: string, owner: string, start: () => UpstreamLink): Kept | undefined {
    let lastUsedMs = performance.now()
    const user = {
      get spare(): number | undefined {
        return kept === undefined || kept.server.size > 0 ? undefined : lastUsedMs
      },
      close: (why: string) => kept?.server.close(why),
    }
    let kept: Kept | undefined
    const place = this.#room.take(user, owner)
    if (place === undefined) return undefined
    const made: Kept = {
      server: new SharedServer(start(), () => {
        lastUsedMs = performance.now()
        made.idleTimer = setTimeout(
          () => made.server.close('idle for too long'),
          PROCESS_SESSION_IDLE_MS,
        )
        made.idleTimer.unref()
      }),
    }
    kept = made
    this.#kept.set(key, made)
    void made.server.ended.then(() => {
      clearTimeout(made.idleTimer)
      if (this.#kept.get(key) === made) this.#kept.delete(key)
      place.leave()
      place.ended()
    })
    return made
  }

  /** Ends every one of them, and waits until nothing of any is left. */
  async close(why: string): Promise<void> {
    const servers = [...this.#kept.values()].map(({ server }) => server)
    for (const server of servers) server.close(why)
    await Promise.all(servers.map(({ ended }) => ended))
  }
}
