// All commands by their first word, in the order help shows them, each with what loads it. Only what
// was asked for is loaded: a gate must be up at once, and a short command is mostly loading.

import type { Command } from 'commander'
import type { Answer } from './answer.ts'

type Add = (program: Command, answer: Answer) => void

const COMMANDS: ReadonlyMap<string, () => Promise<Add>> = new Map([
  ['up', async () => (await import('./up.ts')).addUp],
  ['stdio', async () => (await import('./stdio.ts')).addStdio],
  ['wrap', async () => (await import('./wrap.ts')).addWrap],
  ['demo', async () => (await import('./demo.ts')).addDemo],
  ['init', async () => (await import('./init/init.ts')).addInit],
  ['status', async () => (await import('./status.ts')).addStatus],
  ['freeze', async () => (await import('./freeze.ts')).addFreeze],
  ['thaw', async () => (await import('./freeze.ts')).addThaw],
  ['backup', async () => (await import('./backup.ts')).addBackup],
  ['restore', async () => (await import('./backup.ts')).addRestore],
  ['classify', async () => (await import('./classify.ts')).addClassify],
  ['pin', async () => (await import('./pin.ts')).addPin],
  ['scan', async () => (await import('./scan.ts')).addScan],
  ['catalogue', async () => (await import('./catalogue/commands.ts')).addCatalogue],
  ['policy', async () => (await import('./policy/commands.ts')).addPolicy],
  ['ledger', async () => (await import('./ledger/commands.ts')).addLedger],
  ['approvals', async () => (await import('./approvals/commands.ts')).addApprovals],
  ['login', async () => (await import('./login.ts')).addLogin],
  ['approvers', async () => (await import('./approvers/commands.ts')).addApprovers],
  ['console', async () => (await import('./console.ts')).addConsole],
  ['grants', async () => (await import('./grants/commands.ts')).addGrants],
  ['agents', async () => (await import('./agents/commands.ts')).addAgents],
])

/** The command that begins with this word; all of them where there is none, for help and mistakes. */
export async function addCommands(program: Command, word: string, answer: Answer): Promise<void> {
  const asked = COMMANDS.get(word)
  const loading = asked === undefined ? [...COMMANDS.values()] : [asked]
  for (const add of await Promise.all(loading.map((load) => load()))) add(program, answer)
}
