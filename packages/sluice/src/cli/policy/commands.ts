// `sluice policy …`: its commands in the order help shows them.

import type { Command } from 'commander'
import type { SetExitCode } from '../../terminal/exit-code.ts'
import { addLazyCommands, type LazyCommands } from '../../terminal/lazy-commands.ts'

export const POLICY_COMMANDS: LazyCommands = {
  check: {
    summary: 'report every problem of a policy, with its place and what to do',
    load: async () => (await import('./check.ts')).addPolicyCheck,
  },
  explain: {
    summary: 'explain the decision on one call, step by step',
    load: async () => (await import('./explain.ts')).addPolicyExplain,
  },
  test: {
    summary: 'run cases; exit code 1 if a decision is not as expected',
    load: async () => (await import('./test.ts')).addPolicyTest,
  },
  prove: {
    summary: 'prove or refute properties over every known tool',
    load: async () => (await import('./prove.ts')).addPolicyProve,
  },
  coverage: {
    summary: 'show which rules and branches no case has tried',
    load: async () => (await import('./coverage.ts')).addPolicyCoverage,
  },
  simulate: {
    summary: 'play recorded sessions, and attacks on them, under a policy',
    load: async () => (await import('./simulate.ts')).addPolicySimulate,
  },
  add: {
    summary: 'add the rules of a pack to a policy, or list the packs',
    load: async () => (await import('./add.ts')).addPolicyAdd,
  },
  import: {
    summary: 'translate a PolicyLayer policy',
    load: async () => (await import('../../import-policylayer/import-command.ts')).addPolicyImport,
  },
  apply: {
    summary: 'put a changed policy into force, if it may loosen something',
    load: async () => (await import('./apply.ts')).addPolicyApply,
  },
  replay: {
    summary: 'replay recorded calls under another policy',
    load: async () => (await import('./replay.ts')).addPolicyReplay,
  },
  suggest: {
    summary: 'suggest a policy from past calls, or a rule that would have stopped one',
    load: async () => (await import('./suggest.ts')).addPolicySuggest,
  },
}

export async function addPolicy(
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
