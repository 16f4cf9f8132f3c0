// The names of sessions over HTTP: sealed, with what it takes to go on with the session after a restart
// of the gate, and in a cluster at which gate it is. Nobody else can use one, and nothing has to be kept.

import { randomUUID } from 'node:crypto'
import type { HandleSealer } from '@sluice/access/identity/keys/handle-sealer'
import { SESSION_NAME_LENGTH_MAX } from '../../shared/limits.ts'
import { type SessionIds, toSessionKey } from './session-registry.ts'

/** `gate`: the name of this one, if there are others. */
export function createSessionIds(seals: HandleSealer, gate?: string): SessionIds {
  return {
    give: (server, { principal }, { revision, handle, sessionKey }) => {
      if (handle === undefined && gate === undefined) return undefined
      const id = randomUUID()
      const text = JSON.stringify([
        id,
        revision,
        handle ?? '',
        sessionKey ?? toSessionKey(id),
        gate,
      ])
      const name = seals.seal('session', { server, principal: principal.id }, text)
      return name.length <= SESSION_NAME_LENGTH_MAX ? name : undefined
    },
    read: (server, { principal }, name) => {
      const text = seals.open('session', { server, principal: principal.id }, name)
      if (text === undefined) return undefined
      const [id = '', revision = '', handle = '', key, owner] = JSON.parse(text) as string[]
      return { revision, handle, sessionKey: key ?? toSessionKey(id), gate: owner ?? undefined }
    },
  }
}
