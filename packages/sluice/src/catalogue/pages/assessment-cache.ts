// What is told of a definition, worked out once: a page, its server's page and the index all ask for
// the same account. Kept by the definition's identity, and gone with it.

import type { ToolDefinition } from '@sluice/policy/core/tools'
import { type LinkedAttack, linkAttacks } from '../attacks/link-attacks.ts'
import { assessTool, classifyOwn, type ToolAssessment } from '../classify/classify.ts'

export interface AssessmentWithAttacks extends ToolAssessment {
  readonly attacks: readonly LinkedAttack[]
}

const TOLD = new WeakMap<ToolDefinition, AssessmentWithAttacks>()

export function getAssessment(definition: ToolDefinition): AssessmentWithAttacks {
  let told = TOLD.get(definition)
  if (told === undefined) {
    const found = assessTool(definition)
    told = { ...found, attacks: linkAttacks(definition, found) }
    TOLD.set(definition, told)
  }
  return told
}

/** Of a server that is part of Sluice: from now on its own hints are its class, as they are in the gate. */
export function assessOwnTool(definition: ToolDefinition): void {
  const found = { ...assessTool(definition), ...classifyOwn(definition), disagreements: [] }
  TOLD.set(definition, { ...found, attacks: linkAttacks(definition, found) })
}
