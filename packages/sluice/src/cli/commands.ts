// All commands by their first word, in the order help shows them, each with what loads it. Only what
// was asked for is loaded: a gate must be up at once, and a short command is mostly loading.

import type { Command } from 'commander'
import type { SetExitCode } from '../terminal/exit-code.ts'

type Add = (program: Command, answer: SetExitCode) => void

type Load = () => Promise<Add>

const GROUPS: Readonly<Record<string, Readonly<Record<string, Load>>>> = {
  'Run the gate:': {
    init: async () => (await import('../init/init.ts')).addInit,
    up: async () => (await import('./run/up.ts')).addUp,
    stdio: async () => (await import('./run/stdio.ts')).addStdio,
    wrap: async () => (await import('./run/wrap.ts')).addWrap,
    demo: async () => (await import('./run/demo.ts')).addDemo,
  },
  'Say what may pass:': {
    policy: async () => (await import('./policy/commands.ts')).addPolicy,
    scan: async () => (await import('./catalogue/scan.ts')).addScan,
    classify: async () => (await import('./catalogue/classify.ts')).addClassify,
    pin: async () => (await import('./catalogue/pin.ts')).addPin,
    catalogue: async () => (await import('./catalogue/commands.ts')).addCatalogue,
  },
  'Decide, and see what happened:': {
    console: async () => (await import('./run/console.ts')).addConsole,
    approvals: async () => (await import('./approvals/commands.ts')).addApprovals,
    ledger: async () => (await import('./ledger/commands.ts')).addLedger,
    status: async () => (await import('./admin/status.ts')).addStatus,
  },
  'Who may call, who may decide:': {
    grants: async () => (await import('./grants/commands.ts')).addGrants,
    approvers: async () => (await import('./admin/approvers.ts')).addApprovers,
    login: async () => (await import('./run/login.ts')).addLogin,
  },
  'Operate it:': {
    freeze: async () => (await import('./admin/freeze.ts')).addFreeze,
    thaw: async () => (await import('./admin/freeze.ts')).addThaw,
    backup: async () => (await import('./admin/backup.ts')).addBackup,
    restore: async () => (await import('./admin/backup.ts')).addRestore,
  },
  'Agents:': {
    agents: async () => (await import('./agents/commands.ts')).addAgents,
  },
}

/** The command that begins with this word; all of them where there is none, for help and mistakes. */
export async function addCommands(
  program: Command,
  word: string,
  answer: SetExitCode,
): Promise<void> {
  const all = Object.entries(GROUPS).flatMap(([group, commands]) =>
    Object.entries(commands).map(([name, load]) => ({ group, name, load })),
  )
  const asked = all.filter(({ name }) => name === word)
  const loading = (asked.length === 0 ? all : asked).map(async ({ group, load }) => ({
    group,
    add: await load(),
  }))
  for (const { group, add } of await Promise.all(loading)) {
    add(program, answer)
    program.commands.at(-1)?.helpGroup(group)
  }
}
