// What a server says of itself when a session begins: its instructions are part of its definitions, and
// words that may not reach a model are left out.

import { splitMembers } from '../../protocol/json/raw-members.ts'
import { writeMembers } from '../../protocol/write-message.ts'
import type { Log } from '../shared/log.ts'
import type { KnownTools } from './known-tools.ts'
import type { Pins } from './pins.ts'

export interface ServerListenerParts {
  readonly known: KnownTools
  readonly pins: Pins
  readonly log: Log
}

/** The result of `initialize` as the client may have it. */
export function hearServer(
  server: string,
  result: string,
  { known, pins, log }: ServerListenerParts,
): string {
  const members = splitMembers(result)
  const instructions: unknown = JSON.parse(members.get('instructions') ?? 'null')
  const text = typeof instructions === 'string' ? instructions : ''
  known.hear(server, text)
  const poison = text === '' ? undefined : pins.poisonIn(text)
  if (poison === undefined) return result
  log('warn', 'the instructions of a server are not passed on', { server, why: poison })
  members.delete('instructions')
  return writeMembers(members)
}
