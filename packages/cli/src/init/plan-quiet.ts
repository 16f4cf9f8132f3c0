// `sluice init --hooks --quiet`: the word `quiet: reads` for the gate's policy, so that the gate answers questions of
// clients for their users. Refused where it would do nothing, and where other hooks could change what was decided.

import { CODING_CLIENTS, type HookClient } from '@sluice/gateway/hooks/clients/table'
import { isObserveOnly } from '@sluice/gateway/state/observe-mode'
import { compile } from '@sluice/policy/compile/compile'
import { parse } from 'yaml'
import { CliError } from '../terminal/errors.ts'
import { type Output, printable } from '../terminal/output.ts'
import type { ListedHook } from './files/json-hooks.ts'

/** The policy with the word; the same text if it has it. */
export function addQuiet(text: string, file: string): string {
  if (isQuietPolicy(text)) return text
  if (isObserveOnly(text))
    throw new CliError(
      'CLI_FILE',
      `nothing is answered while \`${file}\` only observes`,
      'run `sluice enforce`, then this command again',
    )
  const after = text.replace(/^version: 1\n/m, (version) => `${version}quiet: reads\n`)
  const [problem] = after === text ? [] : compile({ file, text: after }).problems
  if (after === text || problem?.severity === 'error')
    throw new CliError(
      'CLI_FILE',
      `\`quiet: reads\` cannot be added to \`${file}\`${problem === undefined ? '' : `: ${problem.message}`}`,
      problem?.help ?? 'write it on a line of its own',
    )
  return after
}

/** Whether a policy lets the gate answer questions of clients. */
export function isQuietPolicy(text: string): boolean {
  try {
    return (parse(text) as { readonly quiet?: unknown } | null)?.quiet === 'reads'
  } catch {
    return false
  }
}

/** Hooks of others that run before a tool, by client. */
export type OtherHooks = ReadonlyMap<HookClient, readonly ListedHook[]>

/** Throws if no client can be answered, or if a hook of another program may change a call after it was decided. */
export function checkQuiet(others: OtherHooks, isAgreed: boolean, output: Output): void {
  const clients = [...others.keys()]
  const able = clients.filter((client) => CODING_CLIENTS[client].abilities.answersQuestion)
  const unable = clients.filter((client) => !able.includes(client)).join(', ')
  const notYet = `${unable}: not yet; their questions stay`
  if (able.length === 0)
    throw new CliError('CLI_FILE', notYet, 'a client with hooks for its questions: claude-code')
  if (unable !== '') output.remark(notYet)
  const found = able.flatMap((client) => others.get(client) ?? [])
  for (const { path, value } of found)
    output.remark(`another hook at ${path[1]}: ${printable(JSON.stringify(value))}`)
  if (found.length > 0 && !isAgreed)
    throw new CliError(
      'CLI_FILE',
      'hooks of other programs can change a call after it was decided',
      'take them away, or agree to them with --yes-other-hooks',
    )
}
