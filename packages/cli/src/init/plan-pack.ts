// The rules for the tools that a coding agent has of its own, which `sluice init --hooks` puts into the gate's
// policy: without them `default: deny` refuses every command line as soon as the policy is enforced.

import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { readConfig } from '@sluice/gateway/config/config'
import type { HookClient } from '@sluice/gateway/hooks/clients/table'
import { compile } from '@sluice/policy/compile/compile'
import { pickDefined } from '@sluice/policy/structures/pick-defined'
import { CODING_PACK, loadPack } from '../packs/load-pack.ts'
import { mergePack } from '../packs/merge-pack.ts'
import { plural } from '../terminal/output.ts'
import { readText } from '../terminal/read-input.ts'
import { environmentWith } from './config.ts'
import type { Change } from './show.ts'

export type PackPlan =
  /** The policy with the pack, and what is added in words. */
  | { readonly kind: 'change'; readonly change: Change; readonly summary: string }
  | { readonly kind: 'there already' }
  /** Why it cannot be added by itself, with what to do. */
  | { readonly kind: 'impossible'; readonly why: string }

/** `changes` are the ones to the gate's files, with sluice.yaml first and the policy if it is new. */
export function planPack(
  config: string,
  changes: readonly Change[],
  clients: readonly HookClient[],
): PackPlan {
  const file = policyOf(config, changes[0]?.after ?? '')
  const before = existsSync(file) ? readText(file) : undefined
  const base = before ?? changes.find((change) => change.file === file)?.after
  if (base === undefined) return impossible(`there is no policy \`${file}\``, clients)
  const pack = loadPack(CODING_PACK)
  let text = base
  let count = 0
  try {
    for (const server of clients) {
      const merged = mergePack(text, { pack, server })
      text = merged.text
      count += Object.values(merged.added).reduce((sum, added) => sum + added, 0)
    }
  } catch (error) {
    return impossible(`\`${file}\`: ${(error as Error).message}`, clients)
  }
  if (text === base) return { kind: 'there already' }
  const { policy, problems } = compile({ file, text })
  if (policy === undefined) return impossible(`\`${file}\`: ${problems[0]?.message}`, clients)
  const summary = `${file}: ${plural(count, 'entry', 'entries')} of the pack \`${CODING_PACK}\` for the tools of ${clients.join(', ')}; \`${commandFor(clients[0])} --dry-run\` prints them`
  return {
    kind: 'change',
    change: { file, ...pickDefined({ before }), after: text },
    summary,
  }
}

/** The document that the grants of hooks name. */
export function policyOf(config: string, text: string): string {
  const { config: read } = readConfig({ file: config, text }, environmentWith(config, []))
  return read?.policy ?? join(dirname(config), 'policy.yaml')
}

function impossible(why: string, clients: readonly HookClient[]): PackPlan {
  const commands = clients.map((client) => `\`${commandFor(client)}\``).join(', ')
  const what = `the rules for the tools of clients cannot be added: ${why}`
  return { kind: 'impossible', why: `${what}; then run ${commands}` }
}

function commandFor(client = 'NAME'): string {
  return `sluice policy add ${CODING_PACK} --server ${client}`
}
