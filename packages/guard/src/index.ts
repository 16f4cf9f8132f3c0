// What `@sluice/guard` publishes: what foreign text may hold, as a library. Everything here is pure.

export type { Finding, FindingKind, FindingSeverity } from './finding.ts'
export { stripHidden } from './hidden-text.ts'
export {
  type AnswerFinding,
  holdsSecret,
  inspectAnswer,
  type ScanTarget,
} from './inspect-answer.ts'
export { type Inspection, inspectDefinition, type LocatedFinding } from './inspect-definition.ts'
