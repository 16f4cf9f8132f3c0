// The shipped weights compared with the vendors' own hints, which the classifier does not see: read
// or not.

import type { ToolDefinition } from '@sluice/policy/calls/tools'
import { isObject } from '@sluice/policy/values/json'
import { assessTool } from '../../../packages/catalogue/src/classify/classify.ts'
import { isHeldOut } from './split.ts'

export interface HintsScore {
  readonly tools: number
  readonly readOrNot: number
  readonly disagree: readonly string[]
}

export function hintsScore(tools: readonly ToolDefinition[]): HintsScore {
  const hinted = tools
    .filter(({ server }) => !isHeldOut(server))
    .flatMap((tool) => {
      const { annotations, ...definition } = tool
      const hint = isObject(annotations) ? annotations.readOnlyHint : undefined
      return typeof hint === 'boolean' ? [{ definition, reads: hint }] : []
    })
  const disagree = hinted
    .map(({ definition, reads }) => ({ definition, reads, found: assessTool(definition).category }))
    .filter(({ reads, found }) => reads !== (found === 'Read'))
    .map(
      ({ definition, reads, found }) =>
        `${definition.server}/${definition.name}: hinted ${reads ? 'read-only' : 'changing'}, found ${found}`,
    )
  return {
    tools: hinted.length,
    readOrNot: Math.round((1 - disagree.length / hinted.length) * 1_000) / 1_000,
    disagree,
  }
}
