// What a client tells the gate in a hook, and what the gate answers, in terms that are the same for every
// client. read-event.ts reads the payloads of the clients, write-answer.ts writes their answers.

import type { JsonObject, JsonValue } from '@sluice/policy/core/json'
import clients from './clients.json' with { type: 'json' }

export type HookClient = keyof typeof clients
export const HOOK_CLIENTS = Object.keys(clients) as HookClient[]

/** Of each client: `program` is its command; `home` is the variable with the place of its settings, which else is `folder` in the user's
 * home; `file` has its hooks there, `managed` those of the whole machine. `events` and `tools` are its names for
 * events (`failed` comes in the place of `after`) and for tools of the catalogue; `directories` are its names for
 * the argument of its shell that says where a command runs. */
export const CLIENT_NAMES: typeof clients = clients

/** A call of one of the client's tools. */
export interface HookedCall {
  /** As the catalogue names it. */
  readonly tool: string
  readonly args: JsonObject
  /** The client's id of the call; some clients give none. */
  readonly id?: string | undefined
  /** The MCP server of the client that has the tool; undefined for tools of the client itself. */
  readonly mcpServer?: string | undefined
}

export type HookEvent = { readonly session: string } & (
  | { readonly kind: 'before'; readonly call: HookedCall }
  | {
      readonly kind: 'after'
      readonly call: HookedCall
      readonly output: JsonValue
      readonly isError: boolean
    }
  /** `isTyped` is false if the client itself says that no person wrote the prompt. */
  | { readonly kind: 'prompt'; readonly text: string; readonly isTyped: boolean }
  | { readonly kind: 'end' }
)

export type HookAnswer =
  /** The gate has no opinion: the client goes on as if there were no hook. */
  | { readonly kind: 'pass' }
  | { readonly kind: 'deny'; readonly reason: string }
  /** The model is to read this in place of the tool's output. */
  | { readonly kind: 'replace'; readonly output: JsonValue; readonly reason?: string | undefined }

export const PASS: HookAnswer = { kind: 'pass' }
