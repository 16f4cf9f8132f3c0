// What `sluice init --hooks` writes into the settings of each client: which events ask the gate, and what
// happens without an answer. Claude Code asks by itself over HTTP; the others start a script, and so does an
// older Claude Code where it has to block.

import type { JsonObject } from '@sluice/policy/core/json'
import { CLIENT_NAMES, type HookClient } from './hook-event.ts'

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

/** Longer than a call waits for an approver, shorter than the limit of the client. */
export const HOOK_ANSWER_SECONDS = 50
const CLIENT_SECONDS = 60

/** Claude Code before it ignores `onFailure`: a hook over HTTP then goes on without a gate. */
export const ON_FAILURE_SINCE = '2.1.295'

/** Names the event of a hook, so that a payload that cannot be read is refused rightly. Hooks without it were
 * written by an older version. */
export const EVENT_HEADER = 'Sluice-Event'

/** Ends the line of a hook that blocks: it holds if the script is gone, in the syntax of every shell. */
const OR_BLOCK = `|| sh -c 'echo "sluice: this call was not decided, so it is blocked: run sluice doctor" >&2; exit 2'`

/** The entry of each event, to be added to the list of that event under `hooks`. */
export function listHookEntries(client: HookClient, setup: HookSetup): [string, JsonObject][] {
  return Object.entries(CLIENT_NAMES[client].events).map(([event, name]) => {
    const blocks = setup.blocks && (event === 'prompt' || event === 'before')
    const hook =
      event === 'start'
        ? command(client, setup.start)
        : usesScript(client, setup, event)
          ? command(client, askByScript(setup, event, blocks))
          : askByHttp(setup, event, blocks)
    return [name, client === 'copilot' ? hook : { matcher: '*', hooks: [hook] }]
  })
}

/** Of Claude Code only what has to block asks by a script, and only if `onFailure` may be ignored. A prompt stays
 * with HTTP: of a script nobody knows who started it. */
function usesScript(client: HookClient, { blocks, version }: HookSetup, event: string): boolean {
  if (client !== 'claude-code') return true
  return blocks && event === 'before' && !isAtLeast(version, ON_FAILURE_SINCE)
}

/** False as well if `version` is not known. */
export function isAtLeast(version: string | undefined, wanted: string): boolean {
  const numbers = (text: string) => text.split('.').map(Number)
  const [has, needs] = [numbers(version ?? ''), numbers(wanted)]
  const at = needs.findIndex((number, index) => number !== has[index])
  return at === -1 || (has[at] ?? Number.NaN) > (needs[at] ?? 0)
}

/** What an entry of hooks does. */
export interface HookEntry {
  /** Whether it is to stop the client if no gate answers. */
  readonly blocks: boolean
  /** It does so by `onFailure`, which older versions of the client ignore. */
  readonly isByOnFailure: boolean
  /** An older version of Sluice wrote it. */
  readonly isOld: boolean
}

/** Undefined for an entry that `init` has not written. */
export function readHookEntry(entry: unknown): HookEntry | undefined {
  const text = JSON.stringify(entry) ?? ''
  const isStart = /sluice(?:\.js)?'? up /.test(text)
  if (!isStart && !/\/sluice-hook\b|\/hooks\/[a-z0-9-]+"/.test(text)) return undefined
  const isByOnFailure = text.includes('"onFailure":"block"')
  const blocks = isByOnFailure || / block(?:"| )/.test(text)
  const isNew = isStart || text.includes(EVENT_HEADER) || / (?:open|block) [a-z]+(?:"| )/.test(text)
  return { blocks, isByOnFailure, isOld: !isNew }
}

function askByScript({ ask }: HookSetup, event: string, blocks: boolean): string {
  return blocks ? `${ask} block ${event} ${OR_BLOCK}` : `${ask} open ${event}`
}

function askByHttp({ url, token }: HookSetup, event: string, blocks: boolean): JsonObject {
  return {
    type: 'http',
    url,
    timeout: CLIENT_SECONDS,
    ...(blocks ? { onFailure: 'block' } : {}),
    headers: {
      Authorization: `Bearer ${token}`,
      [EVENT_HEADER]: event,
      // Set if the client was started by another agent: then nobody typed its prompt.
      'Sluice-Nested': '$CLAUDECODE',
    },
    allowedEnvVars: ['CLAUDECODE'],
  }
}

function command(client: HookClient, line: string): JsonObject {
  if (client === 'copilot') return { type: 'command', bash: line, timeoutSec: CLIENT_SECONDS }
  // Gemini CLI counts in milliseconds.
  const timeout = client === 'gemini' ? CLIENT_SECONDS * 1_000 : CLIENT_SECONDS
  return { type: 'command', command: line, timeout }
}
