// Definitions that wait for a person, for the console: what has changed and what looks dangerous. A server
// may change all of its definitions, so only the first are shown, and they are made in slices.

import { enterStep } from '@sluice/gateway/shared/current-step'
import { Slices } from '@sluice/gateway/shared/slices'
import { type DefinitionDanger, findDangers } from '@sluice/gateway/tools/find-dangers'
import type { PendingDefinition, Pins } from '@sluice/gateway/tools/pins'
import type { DefinitionRefusal } from '@sluice/gateway/tools/refused-definitions'
import type { ToolDefinition } from '@sluice/policy/calls/tools'
import type { JsonValue } from '@sluice/policy/values/json'
import { DEFINITION_LENGTH_SHOWN, PENDING_LENGTH_SHOWN, PENDING_SHOWN } from '../queries/limits.ts'

/** `GET /api/pins`. */
export interface PendingDefinitionsView {
  /** Those that wait for a decision first, refused ones last. */
  readonly held: readonly PendingDefinitionView[]
  /** How many others wait; absent if all are shown. */
  readonly more?: number
}

/** A definition of a tool that waits for a person. */
export interface PendingDefinitionView {
  readonly server: string
  readonly name: string
  readonly category: string
  /** The category is a guess. */
  readonly unknown: boolean
  /** Why the definition waits. */
  readonly because: string
  readonly changes: readonly string[]
  /** Digest of the definition that was looked at: what is accepted is this one and no other. */
  readonly digest: string
  /** The accepted definition as text, one member a line; empty if none was accepted. */
  readonly before: string
  /** The new definition, in the same form. */
  readonly after: string
  /** Words to the model, hidden text and the like in the new definition: it looks like an attack. */
  readonly dangers: readonly DefinitionDanger[]
  /** Who refused the definition; null if nobody did. */
  readonly refused: DefinitionRefusal | null
}

export async function viewPendingDefinitions(
  pins: Pick<Pins, 'pending' | 'acceptedOf'>,
): Promise<PendingDefinitionsView> {
  const { pending } = pins
  const undecided = pending.filter(({ refused }) => refused === undefined)
  const refused = pending.filter((one) => one.refused !== undefined)
  const views: PendingDefinitionView[] = []
  const slices = new Slices()
  let length = 0
  for (const pending of [...undecided, ...refused]) {
    if (views.length === PENDING_SHOWN || length > PENDING_LENGTH_SHOWN) break
    if (slices.isOver) await slices.next()
    enterStep('command')
    const { server, name } = pending.tool.definition
    const view = toView(pending, pins.acceptedOf(server, name))
    length += view.before.length + view.after.length + view.changes.join('').length
    views.push(view)
  }
  const more = pending.length - views.length
  return more === 0 ? { held: views } : { held: views, more }
}

function toView(
  { tool, digest, because, changes, refused }: PendingDefinition,
  before: ToolDefinition | undefined,
): PendingDefinitionView {
  const { server, name } = tool.definition
  return {
    server,
    name,
    category: tool.category,
    unknown: tool.unknown === true,
    because,
    changes,
    digest,
    before: before === undefined ? '' : toIndentedJson(before),
    after: toIndentedJson(tool.definition),
    dangers: findDangers(tool),
    refused: refused ?? null,
  }
}

/** Empty if there is none. */
export function toIndentedJson(value: JsonValue | undefined): string {
  if (value === undefined) return ''
  return JSON.stringify(value, null, 2).slice(0, DEFINITION_LENGTH_SHOWN)
}
