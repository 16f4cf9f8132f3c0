// What `@sluice/policy` publishes: the policy engine as a library. Everything here is pure: no I/O, no
// clock, no randomness. `evaluate` is the function to start with.

export { sampleFacts } from './cases/sample-facts.ts'
export {
  type CompileOptions,
  type CompileResult,
  compile,
  type PolicySource,
} from './compile/compile.ts'
export { type Action, isStronger, pickStronger } from './core/actions.ts'
export type { Call, Facts } from './core/call.ts'
export type { Instant } from './core/clock.ts'
export type {
  ConsumeResult,
  Counters,
  LimitCharge,
  LimitStatus,
  LimitUsage,
  Receipt,
} from './core/counters.ts'
export type {
  ApprovalRequirement,
  Decision,
  DecisionCode,
  GuardrailMatch,
  ShadowDecision,
} from './core/decision.ts'
export { ExactNumber, type JsonObject, type JsonValue } from './core/json.ts'
export type { Category, KnownTool, Risk, ToolDefinition } from './core/tools.ts'
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
