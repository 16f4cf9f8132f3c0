// `sluice policy …`: its commands in the order help shows them.

import type { Command } from 'commander'
import type { SetExitCode } from '../terminal/exit-code.ts'
import { addLazyCommands, toLazyCommands } from '../terminal/lazy-commands.ts'

export const POLICY_COMMANDS = toLazyCommands({
  check: [
    'report every problem of a policy, with its place and what to do',
    () => import('./check.ts'),
  ],
  explain: ['explain the decision on one call, step by step', () => import('./explain.ts')],
  test: ['run cases; exit code 1 if a decision is not as expected', () => import('./test.ts')],
  prove: ['prove or refute properties over every known tool', () => import('./prove.ts')],
  coverage: ['show which rules and branches no case has tried', () => import('./coverage.ts')],
  simulate: [
    'play recorded sessions, and attacks on them, under a policy',
    () => import('./simulate.ts'),
  ],
  add: ['add the rules of a pack to a policy, or list the packs', () => import('./add.ts')],
  import: ['translate a PolicyLayer policy', () => import('./import-command.ts')],
  apply: [
    'put a changed policy into force, if it may loosen something',
    () => import('./apply.ts'),
  ],
  replay: ['replay recorded calls under another policy', () => import('./replay.ts')],
  suggest: [
    'suggest a policy from past calls, or a rule that would have stopped one',
    () => import('./suggest.ts'),
  ],
})

export async function add(
  program: Command,
  answer: SetExitCode,
  words: readonly string[],
): Promise<void> {
  const policy = program.command('policy').addHelpText('after', POLICY_EXAMPLES).helpCommand(false)
  await addLazyCommands(policy, POLICY_COMMANDS, answer, words)
}

const POLICY_EXAMPLES = `
Examples:
  sluice policy check policy.yaml --tools tools.json     # is it right, and what does it say of my tools?
  sluice policy explain github/delete_repo               # what happens to this call, and why?
  sluice policy test cases.yaml                          # do all my cases still come out?
  sluice policy prove properties.yaml --tools tools.json # can this ever happen?
  sluice policy coverage cases.yaml                      # which rules has no case tried?
  sluice policy simulate --tools tools.json --traces traces.jsonl # what would it hold?
  sluice policy add github                               # rules that fit a published server
  sluice policy import intercept.yaml --server github    # bring a PolicyLayer policy along
  sluice policy replay --policy stricter.yaml            # what would it have said to past calls?
  sluice policy suggest --from ledger                    # what is the least that past calls need?
  sluice policy apply --dry-run                          # what would the changed policy let through?

A tools file is a JSON array of tool definitions, each with "server".`
