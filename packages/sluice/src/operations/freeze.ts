// `freeze` and `thaw`, as the running gate does them and as a command does them where none runs. A
// freeze holds at once, whatever cannot be written; a thaw is on record before it takes effect.

import type { JsonObject } from '@sluice/policy/core/json'
import { OperationError } from '../core/operation-error.ts'
import type { Person } from '../core/person.ts'
import { toActor } from '../core/person.ts'
import { FREEZE_ID_LENGTH_MAX, FREEZE_WHY_LENGTH_MAX } from '../gateway/shared/limits.ts'
import {
  describeFreezeTarget,
  type Freeze,
  type FreezeScope,
  type FreezeStore,
  SCOPES,
} from '../gateway/state/freezes.ts'
import type { Ledger } from '../ledger/ledger.ts'

export interface FreezeParts {
  readonly freezes: FreezeStore
  readonly ledger: Pick<Ledger, 'event'>
  /** Names of servers there are; undefined where nobody knows. */
  readonly servers: () => readonly string[] | undefined
  /** Ends what is open and no longer may be; says how many calls that were. */
  readonly interrupt: (frozen: Freeze) => number
  readonly nowMs: () => number
}

export async function freeze(parts: FreezeParts, request: JsonObject): Promise<JsonObject> {
  const { freezes, ledger, interrupt, nowMs } = parts
  const servers = parts.servers()
  const target = readTarget(request)
  // A misspelt server would be frozen, and the one that was meant would go on.
  if (target.scope === 'server' && servers !== undefined && !servers.includes(target.id))
    throw new OperationError(
      `no server is called \`${target.id}\``,
      `there are ${servers.map((name) => `\`${name}\``).join(', ') || 'none'}`,
    )
  const { why = '' } = request
  if (typeof why !== 'string' || why.length > FREEZE_WHY_LENGTH_MAX)
    throw new OperationError(
      `the reason is no text of at most ${FREEZE_WHY_LENGTH_MAX} characters`,
      'say it shorter',
    )
  const frozen: Freeze = { ...target, atMs: nowMs(), why }
  freezes.hold(frozen)
  const cancelled = interrupt(frozen)
  const warnings: string[] = []
  const detail = { scope: frozen.scope, id: frozen.id, why, cancelled }
  await ledger.event({ atMs: frozen.atMs, name: 'freeze', detail }).catch((error: Error) => {
    warnings.push(`it is not on record: ${error.message}`)
  })
  try {
    freezes.keep(frozen)
  } catch (error) {
    warnings.push(`it holds until the gate ends and no longer: ${(error as Error).message}`)
  }
  return { frozen: toFreezeView(frozen), cancelled, warnings }
}

/** `by` has shown who they are. */
export async function thaw(
  parts: FreezeParts,
  request: JsonObject,
  by: Person,
): Promise<JsonObject> {
  const { freezes, ledger, nowMs } = parts
  const { scope, id } = readTarget(request)
  const frozen = freezes.find(scope, id)
  if (frozen === undefined) {
    const others = freezes.list.map(describeFreezeTarget).join(', ')
    const help = others === '' ? 'nothing is frozen' : `frozen: ${others}; say which`
    throw new OperationError(`${describeFreezeTarget({ scope, id })} is not frozen`, help)
  }
  const atMs = nowMs()
  const detail = { scope, id, frozenAtMs: frozen.atMs, by: toActor(by) }
  await ledger.event({ atMs, name: 'thaw', detail })
  freezes.thaw(frozen)
  return { thawed: toFreezeView(frozen), left: freezes.list.map(toFreezeView) }
}

export function toFreezeView({ scope, id, atMs, why }: Freeze): JsonObject {
  return { scope, id, at: new Date(atMs).toISOString(), why }
}

function readTarget(request: JsonObject): { scope: FreezeScope; id: string } {
  const given = SCOPES.filter((scope) => request[scope] !== undefined)
  const [scope, second] = given
  if (second !== undefined)
    throw new OperationError(`both \`${scope}\` and \`${second}\` are named`, 'one at a time')
  if (scope === undefined || scope === 'all') return { scope: 'all', id: '' }
  const id = request[scope]
  if (typeof id !== 'string' || id === '' || id.length > FREEZE_ID_LENGTH_MAX)
    throw new OperationError(
      `\`${scope}\` is no name of at most ${FREEZE_ID_LENGTH_MAX} characters`,
      'name one as the record has it',
    )
  return { scope, id }
}
