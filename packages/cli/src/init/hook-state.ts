// What the hooks of a client do, as `status` and `doctor` say it: whether they block in the version that is
// installed, and whether an older version of Sluice wrote them.

import { readHookAddress, readHookEntry } from '@sluice/gateway/hooks/clients/hook-lines'
import { CODING_CLIENTS, type HookClient } from '@sluice/gateway/hooks/clients/table'
import { isAtLeast } from '@sluice/gateway/hooks/clients/version'
import { pickDefined } from '@sluice/policy/structures/pick-defined'
import { findNewer, readClientVersion } from './client-version.ts'
import type { ListedHook } from './files/json-hooks.ts'

export interface HookState {
  /** Whether calls are stopped if no gate answers. */
  readonly blocks: boolean
  /** Why hooks that are to block may not. */
  readonly doubt?: string
  /** An older version of Sluice wrote them: they work, and are less strict. */
  readonly isOld: boolean
  /** The command that writes them again. */
  readonly renew: string
  /** How many of them ask before each call. */
  readonly beforeCount: number
  /** The address of the gate that they ask; empty if it cannot be read. */
  readonly url: string
}

/** The state of hooks that ask the gate. */
export function readHookState(client: HookClient, hooks: readonly ListedHook[]): HookState {
  const entries = hooks.flatMap(({ path, value }) => {
    const entry = readHookEntry(value)
    return entry === undefined ? [] : [{ ...entry, event: path[1] }]
  })
  const asking = entries.filter(({ event }) => event === CODING_CLIENTS[client].events.before)
  const [before] = asking
  const doubt = before?.isByOnFailure === true ? doubtOnFailure(client) : undefined
  const isMeantToBlock = entries.some(({ blocks }) => blocks)
  return {
    blocks: before?.blocks === true && doubt === undefined,
    ...pickDefined({ doubt }),
    // Older versions did not ask for the event at which the client asks its user.
    isOld: entries.some(({ isOld }) => isOld) || lacksEvent(client, entries),
    renew: `sluice init --hooks ${client}${CODING_CLIENTS[client].isUntested === true ? ' --untested' : ''}${isMeantToBlock ? ' --enforce' : ''}`,
    beforeCount: asking.length,
    url: addressOf(hooks),
  }
}

function lacksEvent(client: HookClient, entries: readonly { readonly event: string }[]): boolean {
  const { asked } = CODING_CLIENTS[client].events
  return asked !== undefined && entries.every(({ event }) => event !== asked)
}

function addressOf(hooks: readonly ListedHook[]): string {
  const asked = hooks.map(({ value }) => readHookAddress(value)).find((url) => url !== undefined)
  return asked?.replace(/\/hooks\/[^/]*$/, '') ?? ''
}

function doubtOnFailure(client: HookClient): string | undefined {
  const { failClosedSince: since } = CODING_CLIENTS[client]
  const version = readClientVersion(client)
  if (since === undefined || isAtLeast(version, since)) return undefined
  return version === undefined
    ? `its version is not known, and before ${since} these hooks do not block`
    : `version ${version} ignores \`onFailure\`, which is known since ${since}`
}

/** Lines for `status`. `isQuiet`: the policy has `quiet: reads`. */
export function describeHooks(client: HookClient, state: HookState, isQuiet: boolean): string[] {
  const { blocks, doubt, isOld, renew } = state
  const why = doubt === undefined ? '' : `: ${doubt}; \`${renew}\` writes hooks that block there`
  const { abilities, isUntested } = CODING_CLIENTS[client]
  const tried = isUntested === true ? '; not tried with this client' : ''
  const spared =
    isQuiet && abilities.answersQuestion
      ? '; local reads of the project and approved calls are not asked twice'
      : ''
  const line = `${client} asks, ${blocks ? 'blocks' : 'goes on'} if the gate is down${why}${tried}${spared}`
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
