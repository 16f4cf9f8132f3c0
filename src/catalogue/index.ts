// The door of `sluice/catalogue`: what a tool can do, as a library for whoever wants it in another
// program. Everything here is pure.

export type { Category, Risk, ToolDefinition } from '../core/tools.ts'
export type { Attack } from './attack.ts'
export { classOfCall, type Depends } from './call-class.ts'
export { type Account, account, type Classification, CONFIDENCE_MIN, classify } from './classify.ts'
export type { Evidence } from './evidence.ts'
export type { Flows } from './flows.ts'
export { type Change, changesBetween, type Graded, gradeChange } from './grade-change.ts'
export { ATTACKS, type LinkedAttack, linkAttacks, ruleAgainst } from './link-attacks.ts'
export { type Pin, readLock, writeLock } from './lock-file.ts'
export { type Digest, pinOf } from './pin.ts'
export { type Suggested, suggestPolicy } from './suggest-policy.ts'
