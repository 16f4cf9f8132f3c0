// All commands with their groups, for whoever asks for one of them or for help. What a client starts
// (main.ts knows which) is there without this file and what it imports: a gate must be up at once.

import type { Command } from 'commander'
import { addAgentsControl, addAgentsExport, addAgentsImport } from './agents-control.ts'
import { addAgentsCreate, addAgentsPrompt } from './agents-run.ts'
import { addAgentsServe } from './agents-serve.ts'
import { addAgentsFiles, addAgentsLs, addAgentsTodos } from './agents-show.ts'
import type { Answer } from './answer.ts'
import { addBackup, addRestore } from './backup.ts'
import { addCatalogueBuild } from './catalogue-build.ts'
import { addClassify } from './classify.ts'
import { addDemo } from './demo.ts'
import { addFreeze, addThaw } from './freeze.ts'
import { addGrantsAdd } from './grants-add.ts'
import { addGrantsList } from './grants-list.ts'
import { addGrantsRevoke } from './grants-revoke.ts'
import { addLedgerExport } from './ledger-export.ts'
import { addLedgerQuery } from './ledger-query.ts'
import { addLedgerTail } from './ledger-tail.ts'
import { addLedgerVerify } from './ledger-verify.ts'
import { addLogin } from './login.ts'
import { addPin } from './pin.ts'
import { addPolicyApply } from './policy-apply.ts'
import { addPolicyCheck } from './policy-check.ts'
import { addPolicyCoverage } from './policy-coverage.ts'
import { addPolicyExplain } from './policy-explain.ts'
import { addPolicyImport } from './policy-import.ts'
import { addPolicyProve } from './policy-prove.ts'
import { addPolicyReplay } from './policy-replay.ts'
import { addPolicyTest } from './policy-test.ts'
import { addScan } from './scan.ts'
import { addStatus } from './status.ts'
import { addStdio } from './stdio.ts'
import { addUp } from './up.ts'
import { addWrap } from './wrap.ts'

export function addAll(program: Command, answer: Answer): void {
  addUp(program, answer)
  addStdio(program, answer)
  addWrap(program, answer)
  addDemo(program, answer)
  addStatus(program, answer)
  addFreeze(program, answer)
  addThaw(program, answer)
  addBackup(program, answer)
  addRestore(program, answer)
  addClassify(program, answer)
  addPin(program, answer)
  addScan(program, answer)
  const catalogue = program
    .command('catalogue')
    .description('what all known tools can do, as a site')
    .helpCommand(false)
  addCatalogueBuild(catalogue, answer)
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
  const ledger = program
    .command('ledger')
    .description('what happened: every call, with what was decided on it')
    .helpCommand(false)
  for (const add of [addLedgerTail, addLedgerQuery, addLedgerExport, addLedgerVerify])
    add(ledger, answer)
  addLogin(program, answer)
  const grants = program
    .command('grants')
    .description('who may call, and under which policy')
    .helpCommand(false)
  for (const add of [addGrantsAdd, addGrantsList, addGrantsRevoke]) add(grants, answer)
  const agents = program
    .command('agents')
    .description('agents in WebAssembly sandboxes: run them, watch them, take them along')
    .helpCommand(false)
  for (const add of [
    addAgentsServe,
    addAgentsLs,
    addAgentsCreate,
    addAgentsPrompt,
    addAgentsTodos,
    addAgentsFiles,
    addAgentsControl,
    addAgentsExport,
    addAgentsImport,
  ])
    add(agents, answer)
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
