// What is told of a definition, worked out once: a page, its server's page and the index all ask for
// the same account. Kept by the definition's identity, and gone with it.

import type { ToolDefinition } from '@sluice/policy/core/tools'
import { type LinkedAttack, linkAttacks } from '../attacks/link-attacks.ts'
import { assessTool, classifyOwn, type ToolAssessment } from '../classify/classify.ts'
import { isOwnTool } from '../classify/own-tools.ts'

export interface AssessmentWithAttacks extends ToolAssessment {
  readonly attacks: readonly LinkedAttack[]
}

const ASSESSMENTS = new WeakMap<ToolDefinition, AssessmentWithAttacks>()

export function getAssessment(definition: ToolDefinition): AssessmentWithAttacks {
  let assessment = ASSESSMENTS.get(definition)
  if (assessment === undefined) {
    const found = assess(definition)
    assessment = { ...found, attacks: linkAttacks(definition, found) }
    ASSESSMENTS.set(definition, assessment)
  }
  return assessment
}

/** Of a server that is part of Sluice, its own hints are its class, as they are in the gate. */
function assess(definition: ToolDefinition): ToolAssessment {
  const assessment = assessTool(definition)
  if (!isOwnTool(definition)) return assessment
  return { ...assessment, ...classifyOwn(definition), disagreements: [] }
}
