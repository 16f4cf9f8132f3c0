// Definitions that wait for a person, for the console: what has changed and what looks dangerous. A server
// may change all of its definitions, so only the first are shown, and they are made in slices.

import type { JsonValue } from '@sluice/policy/core/json'
import type { ToolDefinition } from '@sluice/policy/core/tools'
import { enterStep } from '../../gateway/shared/current-step.ts'
import { Slices } from '../../gateway/shared/slices.ts'
import { findDangers } from '../../gateway/tools/find-dangers.ts'
import type { PendingDefinition, Pins } from '../../gateway/tools/pins.ts'
import {
  DEFINITION_LENGTH_SHOWN,
  PENDING_LENGTH_SHOWN,
  PENDING_SHOWN,
} from '../contract/console-limits.ts'
import type { PendingDefinitionsView, PendingDefinitionView } from '../contract/contract-console.ts'

/** Those that wait for a decision first, refused ones last. */
export async function viewPendingDefinitions(
  pins: Pick<Pins, 'held' | 'acceptedOf'>,
): Promise<PendingDefinitionsView> {
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
    before: before === undefined ? '' : toIndentedJson(before as unknown as JsonValue),
    after: toIndentedJson(tool.definition as unknown as JsonValue),
    dangers: findDangers(tool),
    refused: refused ?? null,
  }
}

/** Empty if there is none. */
export function toIndentedJson(value: JsonValue | undefined): string {
  if (value === undefined) return ''
  return JSON.stringify(value, null, 2).slice(0, DEFINITION_LENGTH_SHOWN)
}
