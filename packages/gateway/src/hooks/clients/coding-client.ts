// What the gate has to know of a client with hooks. Each client is one value of this type in the file of its
// name; clients/table.ts is the table. Nothing else asks which client it has before it.

import type { JsonObject, JsonValue } from '@sluice/policy/values/json'
import type { AnsweredEvent, HookAnswer } from './hook-event.ts'

export interface CodingClient {
  /** What people call it. */
  readonly title: string
  /** The command that starts it. */
  readonly program: string
  /** It was written by the documents of the client alone, and was tried with no version of it. */
  readonly isUntested?: true
  readonly settings: ClientSettings
  /** Its names for the events that the gate reads. */
  readonly events: ClientEvents
  /** Its names for the argument of its shell that says where a command runs. */
  readonly directories: readonly string[]
  /** Who connects to the gate. `client`: its own process over HTTP, so a prompt that it reports is the user's.
   * `script`: bin/sluice-hook, which the agent could start as well. */
  readonly sender: 'client' | 'script'
  /** The version since which a hook over HTTP blocks without a gate; undefined for scripts, which always can. */
  readonly failClosedSince?: string
  readonly abilities: ClientAbilities
  /** The name of a tool in the catalogue (client-tools.json). */
  readonly nameTool: (name: string, input: JsonObject) => string
  readonly readPayload: (payload: JsonObject) => ClientPayload
  /** The answer to an event in the words of the client. Whatever it does not understand it takes for silence, so
   * there is no member that it does not know. */
  readonly writeAnswer: (event: AnsweredEvent, answer: HookAnswer) => JsonObject
  /** What `init` writes for each event of `events`. */
  readonly listEntries: (setup: HookSetup) => WrittenEntry[]
  /** What `init` tells the user to do in the client itself. */
  readonly afterInit?: string
}

/** What a client does with answers, beside denials, which all of them take before a tool. */
export interface ClientAbilities {
  /** It runs other arguments than those of its model, so a line of it can run in a box. */
  readonly rewrites: boolean
  /** It has a hook for the question to its user. Without one the yes goes with the rewritten line, and a hook that
   * comes later may put another in its place: that is seen only afterwards. */
  readonly answersQuestion: boolean
  /** Where the model reads a note: beside the output that it is about, or with the call after that. */
  readonly notes: 'output' | 'next call'
}

/** Where a client has its hooks. */
export interface ClientSettings {
  /** The variable that names the folder of its settings, if it has one. */
  readonly homeVariable?: string
  /** That folder without the variable, from the user's home. */
  readonly folder: string
  /** The file of the hooks in that folder. */
  readonly file: string
  /** What a new file has beside the hooks, as text. */
  readonly emptyFile: string
  /** The client reads comments and last commas in it. */
  readonly readsComments: boolean
  /** Clients whose hooks it runs as well: with hooks of both, a call is decided twice. */
  readonly runsHooksOf?: readonly string[]
  /** The file is no JSON but this plugin of the client (cli/bin), with the hooks in it. */
  readonly plugin?: string
  /** Undefined for a client that has no such settings, or of which none were tried. */
  readonly managed?: ManagedSettings
}

/** The settings of a whole machine, which its users cannot change. */
export interface ManagedSettings {
  /** From `/`. */
  readonly file: string
  /** Members that a JSON file gets beside the hooks. */
  readonly members: JsonObject
  /** The whole text, if it is no JSON file. */
  readonly write?: (entries: readonly WrittenEntry[]) => string
  /** The file with the MCP servers of the whole machine, from `/`, if the client has one. */
  readonly servers?: string
}

/** Names of events. `start` and `end` are of the session; `failed` comes in the place of `after`. */
export interface ClientEvents {
  readonly start: string
  readonly prompt: string
  readonly before: string
  /** Before the client asks its user about a call. */
  readonly asked?: string
  readonly after: string
  readonly failed?: string
  readonly end: string
}

/** The members of a payload that the gate reads, not checked yet. They are called as in Claude Code, whose words
 * most clients use; undefined is what the client did not send. */
export interface ClientPayload {
  readonly hook_event_name: JsonValue | undefined
  readonly session_id: JsonValue | undefined
  readonly prompt: JsonValue | undefined
  readonly tool_name: JsonValue | undefined
  readonly tool_input: JsonValue | undefined
  readonly tool_use_id: JsonValue | undefined
  readonly cwd: JsonValue | undefined
  /** A folder for temporary files that the client has made for the session. */
  readonly scratch: JsonValue | undefined
  readonly permission_mode: JsonValue | undefined
  /** What the client would remember, if its user says so. */
  readonly permission_suggestions: JsonValue | undefined
  /** The MCP server of the tool, if the client says it beside the tool's name. */
  readonly mcpServers: readonly (JsonValue | undefined)[]
  /** What the tool said; null if nothing came. */
  readonly output: JsonValue
  /** False if the client says that no person wrote the prompt. */
  readonly isTyped: boolean
}

export interface HookSetup {
  /** `http://127.0.0.1:7433/hooks/claude-code`. */
  readonly url: string
  readonly token: string
  /** The command line that asks by a script; without whether it blocks. */
  readonly ask: string
  /** The command line that starts a gate if none runs. */
  readonly start: string
  /** Without an answer of the gate the client does not go on. */
  readonly blocks: boolean
  /** The version of the client, if it is known. */
  readonly version: string | undefined
}

/** An entry of the settings, and the client's name of the event in whose list it is. */
export type WrittenEntry = readonly [event: string, entry: JsonObject]
