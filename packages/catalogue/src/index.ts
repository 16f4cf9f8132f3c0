// What `@sluice/catalogue` publishes: what a tool can do, as a library. Everything here is pure.

export type { Category, Risk, ToolDefinition } from '@sluice/policy/calls/tools'
export type { Attack } from './attacks/attack.ts'
export { ATTACKS, type LinkedAttack, linkAttacks, ruleAgainst } from './attacks/link-attacks.ts'
export {
  assessTool,
  type Classification,
  CONFIDENCE_MIN,
  classify,
  type ToolAssessment,
} from './classify/classify.ts'
export { type CategoryArgument, classifyCall } from './classify/classify-call.ts'
export type { EvidenceKind } from './classify/describe-signal.ts'
export type { Evidence } from './classify/evidence.ts'
export type { Flows } from './classify/flows.ts'
export { type PolicySuggestion, suggestPolicy } from './pages/suggest-policy.ts'
export {
  type ChangeGrade,
  changesBetween,
  type DefinitionChange,
  gradeChange,
} from './pins/grade-change.ts'
export { type Pin, readLock, writeLock } from './pins/lock-file.ts'
export { type Digest, pinOf } from './pins/pin.ts'
