// What `@sluice/policy` publishes: the policy engine as a library. Everything here is pure: no I/O, no
// clock, no randomness. `evaluate` is the function to start with.

export { type Action, isStronger, pickStronger } from './calls/actions.ts'
export type { Call, Facts } from './calls/call.ts'
export type { Instant } from './calls/clock.ts'
export type {
  ConsumeResult,
  Counters,
  LimitCharge,
  LimitStatus,
  LimitUsage,
  Receipt,
} from './calls/counters.ts'
export type {
  ApprovalRequirement,
  Decision,
  DecisionCode,
  GuardrailMatch,
  ShadowDecision,
} from './calls/decision.ts'
export type { Category, KnownTool, Risk, ToolDefinition } from './calls/tools.ts'
export { sampleFacts } from './cases/sample-facts.ts'
export {
  type CompileOptions,
  type CompileResult,
  compile,
  type PolicySource,
} from './compile/compile.ts'
export { MemoryCounters } from './counters/memory-counters.ts'
export { decide, isVisible } from './decide/decide.ts'
export type { TraceStep } from './decide/trace.ts'
export type { Problem, Severity } from './document/problem.ts'
export {
  type EvaluateOptions,
  evaluate,
  PolicyDocumentError,
  type ToolCall,
} from './evaluate/evaluate.ts'
export { ERRORS, type PolicyErrorCode } from './language/errors.ts'
export { policyJsonSchema } from './language/json-schema.ts'
export type { CompiledPolicy } from './model/policy.ts'
export { ExactNumber, type JsonObject, type JsonValue } from './values/json.ts'
