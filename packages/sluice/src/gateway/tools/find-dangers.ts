// What in a definition may not reach a model unread: hidden text, orders to the model, requests for what
// the call does not need. For people who decide on a definition that waits.

import type { JsonValue } from '@sluice/policy/core/json'
import type { KnownTool } from '@sluice/policy/core/tools'
import { inspectDefinition } from '../../guard/inspect-definition.ts'
import { DANGER_LENGTH_MAX, DANGERS_SHOWN_MAX } from './limits.ts'

export interface DefinitionDanger {
  readonly kind: string
  /** JSON Pointer. */
  readonly at: string
  readonly text: string
}

const cache = new WeakMap<KnownTool, readonly DefinitionDanger[]>()

export function findDangers(tool: KnownTool): readonly DefinitionDanger[] {
  const known = cache.get(tool)
  if (known !== undefined) return known
  const { definition, instructions } = tool
  const whole = instructions === undefined ? definition : { ...definition, instructions }
  const dangers = inspectDefinition(whole as unknown as JsonValue)
    .findings.filter(({ severity }) => severity === 'refuse' || severity === 'hold')
    .slice(0, DANGERS_SHOWN_MAX)
    .map(({ kind, at, text }) => ({ kind, at, text: text.slice(0, DANGER_LENGTH_MAX) }))
  cache.set(tool, dangers)
  return dangers
}
