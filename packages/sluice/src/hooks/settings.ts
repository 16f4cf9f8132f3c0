// What `sluice init --hooks` writes into the settings of each client: which events ask the gate, and what
// happens without an answer. Claude Code asks by itself over HTTP; the others start a script.

import type { JsonObject } from '@sluice/policy/core/json'
import { CLIENT_NAMES, type HookClient } from './hook-event.ts'

export interface HookSetup {
  /** `http://127.0.0.1:7433/hooks/claude-code`. */
  readonly url: string
  readonly token: string
  /** The command line that asks, for clients that start a script; without whether it blocks. */
  readonly ask: string
  /** The command line that starts a gate if none runs. */
  readonly start: string
  /** Without an answer of the gate the client does not go on. */
  readonly blocks: boolean
}

/** Longer than a call waits for an approver, shorter than the limit of the client. */
export const HOOK_ANSWER_SECONDS = 50
const CLIENT_SECONDS = 60

/** The entry of each event, to be added to the list of that event under `hooks`. */
export function listHookEntries(client: HookClient, setup: HookSetup): [string, JsonObject][] {
  return Object.entries(CLIENT_NAMES[client].events).map(([event, name]) => {
    const blocks = setup.blocks && (event === 'prompt' || event === 'before')
    const hook = event === 'start' ? command(client, setup.start) : askHook(client, setup, blocks)
    return [name, client === 'copilot' ? hook : { matcher: '*', hooks: [hook] }]
  })
}

/** Whether `init` wrote this entry, and whether it blocks without a gate; undefined for any other. */
export function readHookEntry(entry: unknown): { readonly blocks: boolean } | undefined {
  const text = JSON.stringify(entry) ?? ''
  if (!/\/sluice-hook\b|\/hooks\/[a-z0-9-]+"|sluice(?:\.js)?'? up /.test(text)) return undefined
  return { blocks: /"onFailure":"block"| block"/.test(text) }
}

function askHook(client: HookClient, setup: HookSetup, blocks: boolean): JsonObject {
  if (client !== 'claude-code') return command(client, `${setup.ask} ${blocks ? 'block' : 'open'}`)
  return {
    type: 'http',
    url: setup.url,
    timeout: CLIENT_SECONDS,
    ...(blocks ? { onFailure: 'block' } : {}),
    // Set if the client was started by another agent: then nobody typed its prompt.
    headers: { Authorization: `Bearer ${setup.token}`, 'Sluice-Nested': '$CLAUDECODE' },
    allowedEnvVars: ['CLAUDECODE'],
  }
}

function command(client: HookClient, line: string): JsonObject {
  if (client === 'copilot') return { type: 'command', bash: line, timeoutSec: CLIENT_SECONDS }
  // Gemini CLI counts in milliseconds.
  const timeout = client === 'gemini' ? CLIENT_SECONDS * 1_000 : CLIENT_SECONDS
  return { type: 'command', command: line, timeout }
}
