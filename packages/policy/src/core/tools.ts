// What is known of a tool: the definition a server lists, and the class accepted with it.
// The catalogue makes the class, the policy engine judges by it, the gate carries both.

import type { JsonValue } from './json.ts'

export const CATEGORIES = ['Read', 'Write', 'Execute', 'Destructive', 'Financial'] as const
export type Category = (typeof CATEGORIES)[number]

export const RISKS = ['low', 'medium', 'high', 'critical'] as const
export type Risk = (typeof RISKS)[number]

/** A tool as its server lists it; fields nobody here knows are kept. */
export interface ToolDefinition {
  readonly server: string
  readonly name: string
  readonly title?: string
  readonly description?: string
  readonly inputSchema?: JsonValue
  readonly outputSchema?: JsonValue
  readonly annotations?: JsonValue
}

/** A definition together with the class it was accepted with. One object for each accepted
 * definition: engines keep what they derive from it by identity. */
export interface KnownTool {
  readonly definition: ToolDefinition
  readonly category: Category
  readonly risk: Risk
  /** The class is a guess: a call gets the stricter of the verdicts for it and for Execute. */
  readonly unknown?: boolean
  /** What its server tells the model beside its tools; absent where nobody has asked it yet. */
  readonly instructions?: string
}
