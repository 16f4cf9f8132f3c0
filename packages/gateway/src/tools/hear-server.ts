// What a server says of itself when a session begins: its instructions are part of its definitions, and
// words that may not reach a model are left out, as are extensions that the gate does not serve.

import { cutExtensions, type PassesExtension } from '@sluice/protocol/extensions'
import { splitMembers } from '@sluice/protocol/json/raw-members'
import { writeMembers } from '@sluice/protocol/write-message'
import type { Log } from '../shared/log.ts'
import type { KnownTools } from './known-tools.ts'
import type { Pins } from './pins.ts'
import type { ServerNotes } from './server-notes.ts'

export interface ServerListenerParts {
  readonly known: KnownTools
  readonly pins: Pins
  readonly notes: ServerNotes
  readonly passesExtension: PassesExtension
  readonly log: Log
}

/** The result of `initialize` or `server/discover` as the client may have it. */
export function hearServer(
  server: string,
  result: string,
  { known, pins, notes, passesExtension, log }: ServerListenerParts,
): string {
  const members = splitMembers(result)
  const instructions: unknown = JSON.parse(members.get('instructions') ?? 'null')
  const text = typeof instructions === 'string' ? instructions : ''
  known.hear(server, text)
  const { capabilities, cut } = cutExtensions(members.get('capabilities'), passesExtension)
  notes.extensionsCut(server, cut)
  const poison = text === '' ? undefined : pins.poisonIn(text)
  if (poison === undefined && cut.length === 0) return result
  if (cut.length > 0) members.set('capabilities', capabilities)
  if (poison === undefined) return writeMembers(members)
  log('warn', 'the instructions of a server are not passed on', { server, why: poison })
  members.delete('instructions')
  return writeMembers(members)
}
