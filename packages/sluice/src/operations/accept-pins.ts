// `sluice pin --accept`, `--refuse` and `--held`, as the running gate does them, and as a command does them where
// none runs: then what servers last listed is in gate.db, and a person accepts that.

import { createHash } from 'node:crypto'
import type { DatabaseSync } from 'node:sqlite'
import type { JsonObject, JsonValue } from '@sluice/policy/core/json'
import { pinOf } from '../catalogue/pins/pin.ts'
import { OperationError } from '../core/operation-error.ts'
import type { Person } from '../core/person.ts'
import { toActor } from '../core/person.ts'
import { REFUSAL_LENGTH_MAX } from '../gateway/shared/limits.ts'
import type { PendingDefinition, Pins } from '../gateway/tools/pins.ts'
import { readKeptTools } from '../gateway/tools/stored-tools.ts'
import type { Ledger } from '../ledger/ledger.ts'

export interface AcceptParts {
  readonly pins: Pins
  readonly ledger: Pick<Ledger, 'event'>
  /** What callers may see may be another now. */
  readonly changed: () => void
  readonly nowMs: () => number
}

/** On record before it takes effect: it is what lets a changed tool through. */
export async function acceptPins(
  parts: AcceptParts,
  request: JsonObject,
  by: Person,
): Promise<JsonObject> {
  const { server, name } = readTarget(request)
  const mine = parts.pins.waiting(server, name)
  checkSeen(mine, request.seen)
  const detail = { server, tools: mine.map(toPendingView), by: toActor(by) }
  await parts.ledger.event({ atMs: parts.nowMs(), name: 'pin', detail })
  parts.pins.accept(mine)
  parts.changed()
  return { accepted: mine.map(toPendingView) }
}

/** It tightens, so nothing has to be shown before; who it was is on record, and told to callers. */
export async function refusePins(
  parts: AcceptParts,
  request: JsonObject,
  by: Person,
): Promise<JsonObject> {
  const { server, name } = readTarget(request)
  const why = typeof request.why === 'string' ? request.why : ''
  if (why.length > REFUSAL_LENGTH_MAX)
    throw new OperationError(
      `the reason has more than ${REFUSAL_LENGTH_MAX} characters`,
      'shorten it',
    )
  const mine = parts.pins.waiting(server, name)
  checkSeen(mine, request.seen)
  const detail = { how: 'refused', server, tools: mine.map(toPendingView), by: toActor(by), why }
  await parts.ledger.event({ atMs: parts.nowMs(), name: 'pin', detail })
  parts.pins.refuse(mine, by.name, why)
  return { refused: mine.map(toPendingView) }
}

export function heldPins({ pins }: Pick<AcceptParts, 'pins'>): JsonObject {
  return { held: pins.held.map(toPendingView) }
}

/** Where no gate runs. */
export async function acceptOffline(
  { store, ledger, nowMs }: Pick<AcceptParts, 'ledger' | 'nowMs'> & { store: DatabaseSync },
  request: JsonObject,
  by: Person,
): Promise<JsonObject> {
  const { server, name } = readTarget(request)
  const tools = readKeptTools(store).filter(
    ({ definition }) =>
      definition.server === server && (name === undefined || definition.name === name),
  )
  if (tools.length === 0)
    throw new OperationError(`no tool of \`${server}\` was seen`, 'start the gate and list them')
  const names = tools.map(({ definition }) => definition.name)
  const detail = { server, tools: names, by: toActor(by) }
  await ledger.event({ atMs: nowMs(), name: 'pin', detail })
  const digest = (text: string) => createHash('sha256').update(text).digest('hex')
  const insert = store.prepare('INSERT OR REPLACE INTO pins VALUES (?, ?, ?, ?, ?, ?, ?)')
  for (const { definition, category, risk } of tools)
    insert.run(
      ...[definition.server, definition.name, pinOf(definition, digest)],
      ...[JSON.stringify(definition), category, risk, nowMs()],
    )
  return {
    accepted: tools.map(({ definition, category }) => ({
      ...{ server: definition.server, name: definition.name, category },
      ...{ because: 'as it was last seen', changes: [] },
    })),
  }
}

/** `seen`: the digests that the person was shown. A server may change once more while they think. */
function checkSeen(mine: readonly PendingDefinition[], seen: JsonValue | undefined): void {
  if (seen === undefined) return
  const shown = new Set(Array.isArray(seen) ? seen : [])
  if (mine.every(({ digest }) => shown.has(digest))) return
  throw new OperationError('a definition has changed again in the meantime', 'look at it once more')
}

function toPendingView({ tool, digest, because, changes, refused }: PendingDefinition): JsonObject {
  const { server, name } = tool.definition
  const said = refused === undefined ? {} : { refused: { ...refused } }
  const unknown = tool.unknown === true ? { unknown: true } : {}
  return { server, name, category: tool.category, ...unknown, because, changes, digest, ...said }
}

function readTarget({ server, name }: JsonObject): { server: string; name: string | undefined } {
  if (typeof server !== 'string' || server === '')
    throw new OperationError(
      'no server is named',
      'say `--accept SERVER` or `--accept SERVER/TOOL`',
    )
  return { server, name: typeof name === 'string' && name !== '' ? name : undefined }
}
