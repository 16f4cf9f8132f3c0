// What is told of a definition, worked out once: a page, its server's page and the index all ask for
// the same account. Kept by the definition's identity, and gone with it.

import type { ToolDefinition } from '@sluice/policy/calls/tools'
import { memoizeFor } from '@sluice/policy/structures/memoize'
import { type LinkedAttack, linkAttacks } from '../attacks/link-attacks.ts'
import { assessTool, classifyOwn, type ToolAssessment } from '../classify/classify.ts'
import { isOwnTool } from '../classify/own-tools.ts'

export interface AssessmentWithAttacks extends ToolAssessment {
  readonly attacks: readonly LinkedAttack[]
}

export const getAssessment = memoizeFor((definition: ToolDefinition): AssessmentWithAttacks => {
  const found = assess(definition)
  return { ...found, attacks: linkAttacks(definition, found) }
})

/** Assesses a tool. If its server is part of Sluice, its own hints are its class, as in the gate. */
function assess(definition: ToolDefinition): ToolAssessment {
  const assessment = assessTool(definition)
  if (!isOwnTool(definition)) return assessment
  return { ...assessment, ...classifyOwn(definition), disagreements: [] }
}
