// What a client tells the gate in a hook, and what the gate answers, in terms that are the same for every
// client. The file of each client turns its payloads into these words, and these answers into its own.

import type { JsonObject, JsonValue } from '@sluice/policy/values/json'

/** A call of one of the client's tools. */
export interface HookedCall {
  /** As the catalogue names it. */
  readonly tool: string
  readonly args: JsonObject
  /** The arguments as the client has them, which it takes back if one is to be another. */
  readonly input: JsonObject
  /** The client's id of the call; some clients give none. */
  readonly id?: string | undefined
  /** The client's folder for temporary files of the session, if it says one. */
  readonly scratch?: string | undefined
  /** The MCP server of the client that has the tool; undefined for tools of the client itself. */
  readonly mcpServer?: string | undefined
}

export type HookEvent = {
  readonly session: string
  /** The permission mode of the client, in its own words; undefined if it says none. */
  readonly mode?: string | undefined
} & (
  | { readonly kind: 'before'; readonly call: HookedCall }
  /** The client is about to ask its user about a call; the arguments are those that would run. */
  | {
      readonly kind: 'asked'
      readonly call: HookedCall
      /** See `readOffers`. */
      readonly offers: readonly string[] | undefined
    }
  | {
      readonly kind: 'after'
      /** `failed`: the client has another event for a tool that failed. */
      readonly event: 'after' | 'failed'
      readonly call: HookedCall
      readonly output: JsonValue
      readonly isError: boolean
    }
  /** `isTyped` is false if the client itself says that no person wrote the prompt. */
  | { readonly kind: 'prompt'; readonly text: string; readonly isTyped: boolean }
  | { readonly kind: 'end' }
)

/** An event as it is answered. */
export type AnsweredEvent = Exclude<HookEvent['kind'], 'after'> | 'after' | 'failed'

export type HookAnswer =
  /** The gate has no opinion: the client goes on as if there were no hook. */
  /** `args`: what an approver made of the arguments, if that is not what was asked for. */
  | { readonly kind: 'pass'; readonly args?: JsonObject }
  /** `decision`: the details that any caller gets beside the reason. */
  | { readonly kind: 'deny'; readonly reason: string; readonly decision?: JsonObject }
  /** The client is to run the tool with these arguments, and not to ask its user about them. */
  | { readonly kind: 'rewrite'; readonly input: JsonObject; readonly note?: string | undefined }
  /** The answer to `asked`: yes. */
  | { readonly kind: 'allow' }
  /** The model is to read this beside what it reads anyway. */
  | { readonly kind: 'note'; readonly note: string }
  /** The model is to read this in place of the tool's output. */
  | {
      readonly kind: 'replace'
      readonly output: JsonValue
      readonly reason?: string | undefined
      readonly note?: string | undefined
    }

export const PASS: HookAnswer = { kind: 'pass' }

export function deny(reason: string): HookAnswer {
  return { kind: 'deny', reason }
}
