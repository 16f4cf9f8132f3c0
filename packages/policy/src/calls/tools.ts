// What is known of a tool: the definition its server lists, and the category accepted with it. The
// catalogue assigns the category, the policy engine decides by it, the gate passes both along.

import type { JsonObject, JsonValue } from '../values/json.ts'

export const CATEGORIES = ['Read', 'Write', 'Execute', 'Destructive', 'Financial'] as const
/**
 * What a tool is for, at its worst.
 *
 * @example
 * ```ts
 * const category: Category = 'Destructive'
 * ```
 */
export type Category = (typeof CATEGORIES)[number]

export const RISKS = ['low', 'medium', 'high', 'critical'] as const
/**
 * How much harm a tool can do.
 *
 * @example
 * ```ts
 * const risk: Risk = 'critical'
 * ```
 */
export type Risk = (typeof RISKS)[number]

/**
 * A tool as its server lists it. Unknown fields are kept. A `type`, so that a definition is a `JsonValue` without a
 * cast: an interface has no index.
 *
 * @example
 * ```ts
 * const definition: ToolDefinition = { server: 'shop', name: 'list_orders', inputSchema: { type: 'object' } }
 * ```
 */
export type ToolDefinition = {
  readonly server: string
  readonly name: string
  readonly title?: string
  readonly description?: string
  readonly inputSchema?: JsonValue
  readonly outputSchema?: JsonValue
  readonly annotations?: JsonValue
}

/**
 * A definition with the category it was accepted with. Use one object for each definition: what is
 * derived from it is cached by identity.
 *
 * @example
 * ```ts
 * const tool: KnownTool = {
 *   definition: { server: 'shop', name: 'list_orders', inputSchema: { type: 'object' } },
 *   category: 'Read',
 *   risk: 'low',
 * }
 * ```
 */
export interface KnownTool {
  readonly definition: ToolDefinition
  readonly category: Category
  readonly risk: Risk
  /** The category is a guess: a call gets the stricter of the decisions for it and for Execute. */
  readonly unknown?: boolean
  /**
   * A coding client carries it out itself (its shell, its files), and reports it by a hook. Known
   * from the configuration of the gate: a definition cannot say it of itself.
   */
  readonly isClientTool?: boolean
  /**
   * Instructions that the server gives the model in addition to its tools; absent if not requested
   * yet.
   */
  readonly instructions?: string
}

/** Whether JSON is a definition: its optional members are as the server wrote them. */
export function isDefinition(value: JsonObject): value is JsonObject & ToolDefinition {
  return typeof value.server === 'string' && typeof value.name === 'string'
}

/** The name of a tool in policies. It is not unique if a name has a slash. */
export function toToolId({ definition }: KnownTool): string {
  return `${definition.server}/${definition.name}`
}

/** A key that is unique, whatever characters the names have. */
export function toToolKey(server: string, name: string): string {
  return JSON.stringify([server, name])
}
