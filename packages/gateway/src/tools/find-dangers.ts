// What in a definition may not reach a model unread: hidden text, orders to the model, requests for what
// the call does not need. For people who decide on a definition that waits.

import { inspectDefinition } from '@sluice/guard/inspect-definition'
import type { KnownTool } from '@sluice/policy/calls/tools'
import { memoizeFor } from '@sluice/policy/structures/memoize'
import { DANGER_LENGTH_MAX, DANGERS_SHOWN_MAX } from './limits.ts'

export interface DefinitionDanger {
  readonly kind: string
  /** JSON Pointer. */
  readonly at: string
  readonly text: string
}

export const findDangers = memoizeFor((tool: KnownTool): readonly DefinitionDanger[] => {
  const { definition, instructions } = tool
  const whole = instructions === undefined ? definition : { ...definition, instructions }
  return inspectDefinition(whole)
    .findings.filter(({ severity }) => severity === 'refuse' || severity === 'hold')
    .slice(0, DANGERS_SHOWN_MAX)
    .map(({ kind, at, text }) => ({ kind, at, text: text.slice(0, DANGER_LENGTH_MAX) }))
})
