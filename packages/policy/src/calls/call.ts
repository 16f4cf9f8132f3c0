// A call as the engine decides on it, and the facts about its caller. The gate fills in the facts
// from what it knows itself; none of them is taken from the client.

import type { JsonObject } from '../values/json.ts'
import type { AnswerValues } from './answer-values.ts'
import type { NumberKind } from './data-kinds.ts'
import type { PastCalls } from './past-calls.ts'
import type { ProvenanceLookup } from './provenance.ts'
import type { Category, KnownTool } from './tools.ts'

/**
 * One MCP request to decide on.
 *
 * @example
 * ```ts
 * const call: Call = { server: 'shop', method: 'tools/call', name: 'list_orders', args: {} }
 * ```
 */
export interface Call {
  readonly server: string
  /** `tools/call`, `resources/read`, `sampling/createMessage`, ... */
  readonly method: string
  /** Tool name, resource URI or prompt name; empty if the method has none. */
  readonly name: string
  readonly args: JsonObject
}

export interface Principal {
  readonly id: string
  readonly kind: string
  readonly groups: readonly string[]
  readonly claims: JsonObject
}

export interface AgentFacts {
  readonly id: string
  readonly owner: string
  readonly template: string
  readonly depth: number
  readonly turn: number
}

export interface SessionFacts {
  readonly id: string
  readonly startedAtMs: number
  readonly calls: number
  /** Labels that responses have added to this session. */
  readonly saw: readonly string[]
  /** The permission mode that a hook of the client said last, in the client's words. Absent if none said one. */
  readonly mode?: string | undefined
  /** The calls that the session made before. If absent, a condition that reads it is undecidable. */
  readonly past?: PastCalls | undefined
  /** The fields of earlier answers. If absent, a condition that reads them is undecidable. */
  readonly values?: AnswerValues | undefined
  /** How many calls in a row before this one were the same. Called only if a rule reads it. */
  readonly repeats?: ((call: Call) => number) | undefined
  /** The estimated tokens of the answers so far. If absent, a condition that reads it is undecidable. */
  readonly tokens?: number | undefined
}

/**
 * What is known about the caller and the tool. None of it is the client's word.
 *
 * @example
 * ```ts
 * const facts: Facts = sampleFacts(tool, { session: { saw: ['private'] } })
 * ```
 */
export interface Facts {
  /** Absent if the call is not a tool call. */
  readonly tool?: KnownTool
  /** The category of this particular call, if the catalogue can derive it from the arguments. */
  readonly callCategory?: Category
  /** Whether the arguments contain a key or password. Called only if a rule reads it. */
  readonly holdsSecret?: () => boolean
  /** Whether the arguments contain the number of a card, or an IBAN. Called only if a rule reads it. */
  readonly holds?: (kind: NumberKind) => boolean
  /** Where values of the arguments came from. If absent, a condition that reads it is undecidable. */
  readonly provenance?: ProvenanceLookup | undefined
  /** The server lists this resource in exactly this spelling. */
  readonly isListed?: boolean
  readonly transport: string
  readonly principal: Principal
  readonly agent: AgentFacts | null
  readonly session: SessionFacts
  /** Absolute paths of the gate's configuration, policy and data. */
  readonly ownPaths?: readonly string[]
}
