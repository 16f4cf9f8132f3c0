// The version of a client, as its program says it. Which hooks block depends on it, and which tools it has.

import { execFileSync } from 'node:child_process'
import { CODING_CLIENTS, type HookClient } from '@sluice/gateway/hooks/clients/table'
import { isAtLeast } from '@sluice/gateway/hooks/clients/version'
import { OFFERED_TOOLS } from '@sluice/gateway/hooks/offered-tools'
import { findProgram } from '@sluice/gateway/processes/find-program'
import { attempt } from '@sluice/policy/structures/attempt'

/** A client that is starting up for the first time may take seconds. */
const ANSWER_MS_MAX = 15_000

/** Undefined if its program is not in the PATH, or does not say. */
export function readClientVersion(client: HookClient): string | undefined {
  const { PATH: path } = process.env
  const program = findProgram(CODING_CLIENTS[client].program, { cwd: process.cwd(), path })
  if (program === undefined) return undefined
  const text = attempt(
    () =>
      execFileSync(program, ['--version'], {
        timeout: ANSWER_MS_MAX,
        stdio: ['ignore', 'pipe', 'ignore'],
        encoding: 'utf8',
      }),
    '',
  )
  return /(?<!\d)\d{1,6}\.\d{1,6}\.\d{1,6}/.exec(text)?.[0]
}

/** What is the case, and what to do, if the client is newer than the one whose tools the catalogue has. */
export function findNewer(client: HookClient): [message: string, help: string] | undefined {
  const version = readClientVersion(client)
  const known = OFFERED_TOOLS[client]?.version
  if (known === undefined || version === undefined || isAtLeast(known, version)) return undefined
  return [
    `${client} ${version} is newer than ${known}, whose tools are known: a new tool of it counts as Execute`,
    'update Sluice, or look at the tools that `sluice ledger query` shows for it',
  ]
}
