// `sluice pin --held`, `--accept` and `--refuse`: definitions of tools that wait for a person. If no gate
// runs, what servers last listed is in gate.db, and a person accepts that (`acceptStored`).

import type { DatabaseSync } from 'node:sqlite'
import { COUNT, FLAG, fieldsOf, listOf, TEXT } from '@sluice/access/identity/answer-shapes'
import { toActor } from '@sluice/access/identity/person'
import { pinOf } from '@sluice/catalogue/pins/pin'
import { list, required, text, textOrEmpty } from '@sluice/policy/document/build-shape'
import type { FieldValues, ShapeValue } from '@sluice/policy/document/shape'
import { OperationError } from '@sluice/policy/structures/operation-error'
import type { PendingDefinition } from '../tools/pins.ts'
import { sha256 } from '../tools/pins.ts'
import { StoredPins } from '../tools/stored-pins.ts'
import { readKeptTools } from '../tools/stored-tools.ts'
import { REFUSAL_LENGTH_MAX } from './limits.ts'
import { commandOperation, type Operation, operation } from './operation.ts'
import { REQUIRED_ROLES } from './verify-person.ts'

const DIGEST = text(200)
const TARGET = {
  server: required(text(64), 'of which server'),
  name: { shape: text(1_000), doc: 'which tool; all of the server if left out' },
  seen: {
    shape: list(DIGEST, 100_000),
    doc: 'digests of the definitions that the person was shown: no other is meant',
  },
  digest: { shape: DIGEST, doc: 'the same for one definition' },
} as const
const LOOKED_AT = { omit: ['seen'], require: ['name', 'digest'] } as const

const VIEW = fieldsOf(
  { server: TEXT, name: TEXT, category: TEXT, because: TEXT, changes: listOf(TEXT) },
  { unknown: FLAG, digest: TEXT, refused: fieldsOf({ by: TEXT, why: TEXT, atMs: COUNT }) },
)
export type PendingPin = ShapeValue<typeof VIEW>

export const HELD_PINS = commandOperation({
  name: 'pins.held',
  summary: 'definitions that wait for a person',
  role: 'viewer',
  proof: 'none',
  socket: 'pin-held',
  command: 'pin --held',
  needsGate: true,
  input: {},
  run: ({ pins }) => ({ held: pins.pending.map(toPendingView) }),
})

/** Recorded before it takes effect: it is what lets a changed tool through. */
export const ACCEPT_PINS = operation({
  name: 'pins.accept',
  summary: 'accept one definition, as it was looked at',
  role: REQUIRED_ROLES.pins,
  proof: 'fresh',
  socket: 'pin-accept',
  http: { method: 'POST', path: '/api/pins/accept', ...LOOKED_AT },
  command: 'pin --accept',
  changes: true,
  input: TARGET,
  output: fieldsOf({ accepted: listOf(VIEW) }),
  run: async ({ pins, record, toolsChanged }, input, { by }) => {
    const mine = checkSeen(pins.waiting(input.server, input.name), input)
    const tools = mine.map(toPendingView)
    const detail = { server: input.server, tools, by: toActor(by) }
    await record('pin', detail)
    await pins.accept(mine)
    toolsChanged()
    return { accepted: tools }
  },
})

/** It tightens, so it needs no passkey; the person is recorded, and named in replies to callers. */
export const REFUSE_PINS = operation({
  name: 'pins.refuse',
  summary: 'refuse a definition: it stays held, and callers are told by whom',
  role: REQUIRED_ROLES.pins,
  proof: 'identity',
  socket: 'pin-refuse',
  http: { method: 'POST', path: '/api/pins/refuse', ...LOOKED_AT },
  command: 'pin --refuse',
  needsGate: true,
  changes: true,
  input: {
    ...TARGET,
    why: { shape: textOrEmpty(REFUSAL_LENGTH_MAX), doc: 'in the audit log, and told to callers' },
  },
  output: fieldsOf({ refused: listOf(VIEW) }),
  run: async ({ pins, record }, input, { by }) => {
    const { server, why = '' } = input
    const mine = checkSeen(pins.waiting(server, input.name), input)
    const detail = { how: 'refused', server, tools: mine.map(toPendingView), by: toActor(by), why }
    await record('pin', detail)
    await pins.refuse(mine, by.name, why)
    return { refused: mine.map(toPendingView) }
  },
})

export const PIN_OPERATIONS: readonly Operation[] = [HELD_PINS, ACCEPT_PINS, REFUSE_PINS]

/** `pins.accept` on a data directory if no gate runs. */
export function acceptStored(store: DatabaseSync): Operation {
  return commandOperation({
    name: 'pins.accept',
    summary: ACCEPT_PINS.summary,
    role: ACCEPT_PINS.role,
    proof: 'fresh',
    command: 'pin --accept',
    changes: true,
    input: TARGET,
    run: async ({ record, nowMs }, { server, name }, { by }) => {
      const tools = readKeptTools(store).filter(
        ({ definition }) =>
          definition.server === server && (name === undefined || definition.name === name),
      )
      if (tools.length === 0)
        throw new OperationError(
          `no tool of \`${server}\` was seen`,
          'start the gate and list them',
        )
      const names = tools.map(({ definition }) => definition.name)
      const detail = { server, tools: names, by: toActor(by) }
      await record('pin', detail)
      const pins = new StoredPins(store, (_, why) => {
        throw new OperationError(`the definitions could not be stored: ${why}`, 'try again')
      })
      pins.inOne(() => {
        for (const tool of tools)
          pins.put(tool, { digest: pinOf(tool.definition, sha256), acceptedAtMs: nowMs() })
      })
      return {
        accepted: tools.map(({ definition, category }) => ({
          server: definition.server,
          name: definition.name,
          category,
          because: 'as it was last seen',
          changes: [],
        })),
      }
    },
  })
}

/** A server may change a definition once more while the person thinks. */
function checkSeen(
  mine: readonly PendingDefinition[],
  { seen, digest }: Pick<FieldValues<typeof TARGET>, 'seen' | 'digest'>,
): readonly PendingDefinition[] {
  if (seen === undefined && digest === undefined) return mine
  const shown = new Set([...(seen ?? []), ...(digest === undefined ? [] : [digest])])
  if (mine.every((pending) => shown.has(pending.digest))) return mine
  throw new OperationError('a definition has changed again in the meantime', 'look at it once more')
}

function toPendingView({ tool, digest, because, changes, refused }: PendingDefinition): PendingPin {
  const { server, name } = tool.definition
  const refusal = refused === undefined ? {} : { refused: { ...refused } }
  const unknown = tool.unknown === true ? { unknown: true } : {}
  return {
    server,
    name,
    category: tool.category,
    ...unknown,
    because,
    changes: [...changes],
    digest,
    ...refusal,
  }
}
