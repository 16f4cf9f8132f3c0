// A call as the engine judges it, and the facts about who makes it. The gate fills these from what
// it knows itself; nothing here is taken from the client's word.

import type { JsonObject } from './json.ts'
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
  /** Tool name, resource URI or prompt name; empty where the method has none. */
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
  /** Labels that answers have brought into this session. */
  readonly saw: readonly string[]
}

/** Where a path leads through symbolic links, or the file of the gate that it is a hard link to. Past the
 * budget of the call, a file of the gate. */
export type LinkLookup = (path: string) => string | undefined

/** Where a server may look for a relative path. Absolute, without links where the gate could tell. */
export interface ServerPlace {
  readonly bases: readonly string[]
  /** The directory the gate made for the server, inside its own data: the server's to use. */
  readonly workDirectory?: string
  /** Starts the lookups of one call; only for servers with directories among their arguments or roots. */
  readonly startLookups?: () => LinkLookup
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
  /** Absent for what is not a tool call. */
  readonly tool?: KnownTool
  /** The class of this very call where the catalogue can read it from the arguments. */
  readonly callCategory?: Category
  /** Whether the arguments hold a key or password: asked only where a rule reads it. */
  readonly holdsSecret?: () => boolean
  /** The server lists this resource in exactly this spelling. */
  readonly isListed?: boolean
  readonly transport: string
  readonly principal: Principal
  readonly agent: AgentFacts | null
  readonly session: SessionFacts
  /** Absolute paths of the gate's own configuration, policy and data. */
  readonly ownPaths?: readonly string[]
  readonly place?: ServerPlace
}
