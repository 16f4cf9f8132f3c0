// The names of sessions over HTTP: sealed, with what it takes to go on with the session after a restart
// of the gate. Nobody else can use one, and nothing has to be kept.

import { randomUUID } from 'node:crypto'
import type { HandleSealer } from '../../../identity/keys/handle-sealer.ts'
import { SESSION_NAME_LENGTH_MAX } from '../../shared/limits.ts'
import { type SessionIds, toSessionKey } from './session-registry.ts'

export function createSessionIds(seals: HandleSealer): SessionIds {
  return {
    give: (server, { principal }, { revision, handle, sessionKey }) => {
      const text = JSON.stringify([randomUUID(), revision, handle, sessionKey])
      const name = seals.seal('session', { server, principal: principal.id }, text)
      return name.length <= SESSION_NAME_LENGTH_MAX ? name : undefined
    },
    read: (server, { principal }, name) => {
      const text = seals.open('session', { server, principal: principal.id }, name)
      if (text === undefined) return undefined
      const [id = '', revision = '', handle = '', key] = JSON.parse(text) as string[]
      return { revision, handle, sessionKey: key ?? toSessionKey(id) }
    },
  }
}
