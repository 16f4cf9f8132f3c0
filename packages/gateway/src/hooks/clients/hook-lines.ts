// The hooks that `init` writes: command lines that ask the gate, and how they are known again in the settings
// of a client, by what each hook runs or reaches.

import { isObject, type JsonObject, type JsonValue } from '@sluice/policy/values/json'
import type { HookSetup } from './coding-client.ts'

/** How long a script waits for the gate: longer than a call waits for an approver, shorter than the client. */
export const HOOK_ANSWER_SECONDS = 50
/** After which a client gives a hook up. */
export const CLIENT_SECONDS = 60

/** Names the event of a hook, so that a payload that cannot be read is refused rightly. Hooks without it were
 * written by an older version. */
export const EVENT_HEADER = 'Sluice-Event'

/** The shell of a client: what it was told to use, or that of its user. */
export const SHELL_HEADER = 'Sluice-Shell'

/** Ends the line of a hook that blocks: it holds if the script is gone, in the syntax of every shell. */
const OR_BLOCK = `|| sh -c 'echo "sluice: this call was not decided, so it is blocked: run sluice doctor" >&2; exit 2'`

/** The line that a client runs at an event. */
export function writeHookLine(setup: HookSetup, event: string): string {
  if (event === 'start') return setup.start
  return isBlocking(setup, event)
    ? `${setup.ask} block ${event} ${OR_BLOCK}`
    : `${setup.ask} open ${event}`
}

/** Whether the hook of an event is to stop the client if no gate answers. */
export function isBlocking({ blocks }: HookSetup, event: string): boolean {
  return blocks && (event === 'prompt' || event === 'before')
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
  const hooks = hooksOf(entry).filter((hook) => isStart(hook) || addressOf(hook) !== undefined)
  if (hooks.length === 0) return undefined
  const isByOnFailure = hooks.some(({ onFailure }) => onFailure === 'block')
  return {
    blocks: isByOnFailure || hooks.some((hook) => readScript(hook)?.mode === 'block'),
    isByOnFailure,
    isOld: hooks.some((hook) => !isStart(hook) && !namesEvent(hook)),
  }
}

/** The address that an entry of ours asks, `http://127.0.0.1:7433/hooks/codex`; undefined if it asks nothing. */
export function readHookAddress(entry: unknown): string | undefined {
  return hooksOf(entry)
    .map(addressOf)
    .find((address) => address !== undefined)
}

/** Most clients have a list of hooks in each entry; in Copilot CLI an entry is a hook. */
function hooksOf(entry: unknown): JsonObject[] {
  if (!isObject(entry)) return []
  return (Array.isArray(entry.hooks) ? entry.hooks : [entry]).filter(isObject)
}

function isStart(hook: JsonObject): boolean {
  const [first = '', second = '', third] = splitLine(hook)
  const isSluice = (word: string) => /^sluice(?:\.js)?$/.test(nameOf(word))
  return (isSluice(first) && second === 'up') || (isSluice(second) && third === 'up')
}

function addressOf(hook: JsonObject): string | undefined {
  const { url } = hook
  if (typeof url === 'string' && /\/hooks\/[a-z0-9-]+$/.test(url)) return url
  return readScript(hook)?.url
}

function namesEvent(hook: JsonObject): boolean {
  const { headers } = hook
  if (isObject(headers)) return headers[EVENT_HEADER] !== undefined
  return /^[a-z]+$/.test(readScript(hook)?.event ?? '')
}

interface ScriptWords {
  readonly url: string
  readonly mode: string | undefined
  readonly event: string | undefined
}

/** The arguments of bin/sluice-hook. */
function readScript(hook: JsonObject): ScriptWords | undefined {
  const [program = '', url = '', , , mode, event] = splitLine(hook)
  return nameOf(program) === 'sluice-hook' ? { url, mode, event } : undefined
}

function nameOf(path: string): string {
  return path.split(/[\\/]/).at(-1) ?? ''
}

/** The words of the line that a hook runs, without their quotes. */
function splitLine({ command, bash }: JsonObject): string[] {
  const line: JsonValue | undefined = command ?? bash
  if (typeof line !== 'string') return []
  const words = line.match(/(?:'[^']*'|"[^"]*"|\\.|[^\s'"\\])+/g) ?? []
  return words.map((word) => word.replace(/'([^']*)'|"([^"]*)"|\\(.)/g, '$1$2$3'))
}
