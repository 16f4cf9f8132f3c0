// Definitions that wait for a person, for the console: what has changed and what looks dangerous. A server
// may change all of its definitions, so only the first are shown, and they are made in slices.

import { enterStep } from '@sluice/gateway/shared/current-step'
import { Slices } from '@sluice/gateway/shared/slices'
import { findDangers } from '@sluice/gateway/tools/find-dangers'
import type { PendingDefinition, Pins } from '@sluice/gateway/tools/pins'
import type { JsonValue } from '@sluice/policy/core/json'
import type { ToolDefinition } from '@sluice/policy/core/tools'
import { DEFINITION_LENGTH_SHOWN, PENDING_LENGTH_SHOWN, PENDING_SHOWN } from '../queries/limits.ts'

export type PendingDefinitionsView = Awaited<ReturnType<typeof viewPendingDefinitions>>
export type PendingDefinitionView = ReturnType<typeof toView>

/** Those that wait for a decision first, refused ones last; `more` says how many are not shown. */
export async function viewPendingDefinitions(pins: Pick<Pins, 'held' | 'acceptedOf'>) {
  const { held } = pins
  const undecided = held.filter(({ refused }) => refused === undefined)
  const refused = held.filter((one) => one.refused !== undefined)
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
  const more = held.length - views.length
  return more === 0 ? { held: views } : { held: views, more }
}

function toView(
  { tool, digest, because, changes, refused }: PendingDefinition,
  before: ToolDefinition | undefined,
) {
  const { server, name } = tool.definition
  return {
    server,
    name,
    category: tool.category,
    unknown: tool.unknown === true,
    because,
    changes,
    // Of the definition that was looked at: what is accepted is this one and no other.
    digest,
    // Definitions as text, one member a line; `before` is empty if none was accepted.
    before: before === undefined ? '' : toIndentedJson(before as unknown as JsonValue),
    after: toIndentedJson(tool.definition as unknown as JsonValue),
    // Words to the model, hidden text and the like in the new definition: it looks like an attack.
    dangers: findDangers(tool),
    // A person does not want it.
    refused: refused ?? null,
  }
}

/** Empty if there is none. */
export function toIndentedJson(value: JsonValue | undefined): string {
  if (value === undefined) return ''
  return JSON.stringify(value, null, 2).slice(0, DEFINITION_LENGTH_SHOWN)
}
