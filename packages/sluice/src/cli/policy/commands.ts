// `sluice policy …`: its commands in the order help shows them. Loaded only where one is asked for
// (all-commands.ts).

import type { Command } from 'commander'
import { addPolicyImport } from '../../import-policylayer/import-command.ts'
import type { SetExitCode } from '../../terminal/exit-code.ts'
import { addPolicyApply } from './apply.ts'
import { addPolicyCheck } from './check.ts'
import { addPolicyCoverage } from './coverage.ts'
import { addPolicyExplain } from './explain.ts'
import { addPolicyProve } from './prove.ts'
import { addPolicyReplay } from './replay.ts'
import { addPolicyTest } from './test.ts'

export function addPolicy(program: Command, answer: SetExitCode): void {
  const policy = program
    .command('policy')
    .description('write, check, explain, test and prove policies')
    .addHelpText('after', POLICY_EXAMPLES)
    .helpCommand(false)
  for (const add of [
    addPolicyCheck,
    addPolicyExplain,
    addPolicyTest,
    addPolicyProve,
    addPolicyCoverage,
    addPolicyImport,
    addPolicyApply,
    addPolicyReplay,
  ])
    add(policy, answer)
}

const POLICY_EXAMPLES = `
Examples:
  sluice policy check policy.yaml --tools tools.json     # is it right, and what does it say of my tools?
  sluice policy explain github/delete_repo               # what happens to this call, and why?
  sluice policy test cases.yaml                          # do all my cases still come out?
  sluice policy prove properties.yaml --tools tools.json # can this ever happen?
  sluice policy coverage cases.yaml                      # which rules has no case tried?
  sluice policy import intercept.yaml --server github    # bring a PolicyLayer policy along
  sluice policy replay --policy stricter.yaml            # what would it have said to past calls?
  sluice policy apply --dry-run                          # what would the changed policy let through?

A tools file is a JSON array of tool definitions, each with "server".`
