// What the hooks of a client do, as `status` and `doctor` say it: whether they block in the version that is
// installed, and whether an older version of Sluice wrote them.

import { CLIENT_NAMES, type HookClient } from '@sluice/gateway/hooks/hook-event'
import { isAtLeast, ON_FAILURE_SINCE, readHookEntry } from '@sluice/gateway/hooks/settings'
import type { JsonValue } from '@sluice/policy/core/json'
import { findNewer, readClientVersion } from './client-version.ts'

export interface HookState {
  /** Whether calls are stopped if no gate answers. */
  readonly blocks: boolean
  /** Why hooks that are to block may not. */
  readonly doubt?: string
  /** An older version of Sluice wrote them: they work, and are less strict. */
  readonly isOld: boolean
  /** The command that writes them again. */
  readonly renew: string
  /** The address of the gate that they ask; empty if it cannot be read. */
  readonly url: string
}

/** The state of hooks that ask the gate; `path` is `hooks`, the event and the place in its list. */
export function readHookState(
  client: HookClient,
  hooks: readonly { readonly path: readonly unknown[]; readonly value: JsonValue }[],
): HookState {
  const entries = hooks.flatMap(({ path, value }) => {
    const entry = readHookEntry(value)
    return entry === undefined ? [] : [{ ...entry, event: path[1] }]
  })
  const before = entries.find(({ event }) => event === CLIENT_NAMES[client].events.before)
  const doubt = before?.isByOnFailure === true ? doubtOnFailure(client) : undefined
  const isMeantToBlock = entries.some(({ blocks }) => blocks)
  return {
    blocks: before?.blocks === true && doubt === undefined,
    ...(doubt === undefined ? {} : { doubt }),
    isOld: entries.some(({ isOld }) => isOld),
    renew: `sluice init --hooks ${client}${isMeantToBlock ? ' --enforce' : ''}`,
    url: /https?:\/\/[^\s"'\\]+(?=\/hooks\/)/.exec(JSON.stringify(hooks))?.[0] ?? '',
  }
}

function doubtOnFailure(client: HookClient): string | undefined {
  const version = readClientVersion(client)
  if (isAtLeast(version, ON_FAILURE_SINCE)) return undefined
  return version === undefined
    ? `its version is not known, and before ${ON_FAILURE_SINCE} these hooks do not block`
    : `version ${version} ignores \`onFailure\`, which is known since ${ON_FAILURE_SINCE}`
}

/** Lines for `status`. */
export function describeHooks(client: HookClient, state: HookState): string[] {
  const { blocks, doubt, isOld, renew } = state
  const why = doubt === undefined ? '' : `: ${doubt}; \`${renew}\` writes hooks that block there`
  const line = `${client} asks, ${blocks ? 'blocks' : 'goes on'} if the gate is down${why}`
  return isOld ? [line, `${client} has hooks of an older version: \`${renew}\``] : [line]
}

/** What `doctor` warns of, with what to do. */
export function listHookWarnings(
  client: HookClient,
  { doubt, isOld, renew }: HookState,
): [message: string, help: string][] {
  const run = `run \`${renew}\``
  const newer = findNewer(client)
  return [
    ...(doubt === undefined
      ? []
      : [[`hooks of ${client} may not block: ${doubt}`, run] as [string, string]]),
    ...(isOld
      ? [[`hooks of ${client} were written by an older version`, run] as [string, string]]
      : []),
    ...(newer === undefined ? [] : [newer]),
  ]
}
