// `freeze` and `thaw`. A freeze applies at once, whatever cannot be written; a thaw is recorded before it
// takes effect. The same on a running gate and on a data directory if none runs.

import { COUNT, fieldsOf, listOf, TEXT, TIME } from '@sluice/access/identity/answer-shapes'
import { toActor } from '@sluice/access/identity/person'
import { BOOLEAN, text, textOrEmpty, word } from '@sluice/policy/document/build-shape'
import type { FieldValues, ShapeValue } from '@sluice/policy/document/shape'
import { InputError, OperationError } from '@sluice/policy/structures/operation-error'
import { describeFreezeTarget, type Freeze, type FreezeScope, SCOPES } from '../state/freezes.ts'
import { FREEZE_ID_LENGTH_MAX, FREEZE_WHY_LENGTH_MAX } from './limits.ts'
import { type Operation, type OperationParts, operation } from './operation.ts'
import { REQUIRED_ROLES } from './verify-person.ts'

const id = text(FREEZE_ID_LENGTH_MAX)
const TARGET = {
  all: { shape: BOOLEAN, doc: 'everything, as if nothing is named' },
  server: { shape: id, doc: 'only this server' },
  principal: { shape: id, doc: 'only this principal' },
  agent: { shape: id, doc: 'only this agent' },
  session: { shape: id, doc: 'only this session, by its id' },
} as const
export const FREEZE_VIEW = fieldsOf({
  scope: word(SCOPES),
  id: TEXT,
  at: TIME,
  why: TEXT,
})
export type FreezeView = ShapeValue<typeof FREEZE_VIEW>
const WHY = textOrEmpty(FREEZE_WHY_LENGTH_MAX)

export const FREEZE = operation({
  name: 'freeze',
  summary: 'deny every call until a person lifts the freeze; it stops, so it needs no proof',
  role: 'approver',
  proof: 'none',
  socket: 'freeze',
  http: { method: 'POST', path: '/api/freeze', omit: ['all'] },
  changes: 'at once',
  input: { ...TARGET, why: { shape: WHY, doc: 'the reason, told to callers' } },
  output: fieldsOf({ frozen: FREEZE_VIEW, cancelled: COUNT, warnings: listOf(TEXT) }),
  run: async (parts, input) => {
    const { freezes, ledger, servers, interrupt, nowMs } = parts
    const target = readTarget(input)
    // A misspelt server would be frozen, and the one that was meant would go on.
    if (target.scope === 'server' && servers !== undefined && !servers.includes(target.id))
      throw new OperationError(
        `no server is called \`${target.id}\``,
        `there are ${servers.map((name) => `\`${name}\``).join(', ') || 'none'}`,
      )
    const { why = '' } = input
    const frozen: Freeze = { ...target, atMs: nowMs(), why }
    freezes.hold(frozen)
    const cancelled = interrupt()
    const warnings: string[] = []
    const detail = { scope: frozen.scope, id: frozen.id, why, cancelled }
    const event = { atMs: frozen.atMs, name: 'freeze', detail }
    await ledger.event(event, true).catch((error: Error) => {
      warnings.push(`it is not on record yet: ${error.message}`)
      void ledger.event(event).catch(() => {})
    })
    try {
      freezes.keep(frozen)
    } catch (error) {
      warnings.push(`it holds until the gate ends and no longer: ${(error as Error).message}`)
    }
    warnings.push(...(await shareFreeze(parts)))
    return { frozen: toFreezeView(frozen), cancelled, warnings }
  },
})

/** What other gates do not hold, or have not ended yet. */
async function shareFreeze({ settle, unconfirmed }: OperationParts): Promise<string[]> {
  try {
    await settle?.()
    const late = (await unconfirmed?.()) ?? []
    return late.map((gate) => `the gate \`${gate}\` has not confirmed that it ended open calls`)
  } catch (error) {
    return [`it holds at this gate, and at no other one yet: ${(error as Error).message}`]
  }
}

export const THAW = operation({
  name: 'thaw',
  summary: 'lift a freeze',
  command: 'freeze --lift',
  role: REQUIRED_ROLES.thaw,
  proof: 'fresh',
  socket: 'thaw',
  http: { method: 'POST', path: '/api/thaw', omit: ['all'] },
  changes: true,
  input: TARGET,
  output: fieldsOf({ thawed: FREEZE_VIEW, left: listOf(FREEZE_VIEW) }),
  run: async ({ freezes, record }, input, { by }) => {
    const { scope, id: which } = readTarget(input)
    const frozen = freezes.find(scope, which)
    if (frozen === undefined) {
      const others = freezes.list.map(describeFreezeTarget).join(', ')
      const help = others === '' ? 'nothing is frozen' : `frozen: ${others}; say which`
      throw new OperationError(`${describeFreezeTarget({ scope, id: which })} is not frozen`, help)
    }
    const detail = { scope, id: which, frozenAtMs: frozen.atMs, by: toActor(by) }
    await record('thaw', detail)
    freezes.thaw(frozen)
    return { thawed: toFreezeView(frozen), left: listFreezes({ freezes }) }
  },
})

const LIST = operation({
  name: 'freeze.list',
  summary: 'what is frozen',
  role: 'viewer',
  proof: 'none',
  http: { method: 'GET', path: '/api/freeze' },
  input: {},
  output: fieldsOf({ frozen: listOf(FREEZE_VIEW) }),
  run: (parts) => ({ frozen: listFreezes(parts) }),
})

export const FREEZE_OPERATIONS: readonly Operation[] = [LIST, FREEZE, THAW]

export function listFreezes({ freezes }: Pick<OperationParts, 'freezes'>): FreezeView[] {
  return freezes.list.map(toFreezeView)
}

export function toFreezeView({ scope, id: which, atMs, why }: Freeze): FreezeView {
  return { scope, id: which, at: new Date(atMs).toISOString(), why }
}

function readTarget(input: FieldValues<typeof TARGET>): { scope: FreezeScope; id: string } {
  const [scope, second] = SCOPES.filter((each) => input[each] !== undefined)
  if (second !== undefined)
    throw new InputError(`both \`${scope}\` and \`${second}\` are named`, 'one at a time')
  if (scope === undefined || scope === 'all') return { scope: 'all', id: '' }
  return { scope, id: input[scope] as string }
}
