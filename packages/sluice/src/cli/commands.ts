// All commands by their first word, in the order help shows them, each with what loads it.

import type { LazyCommand, LazyCommands } from '../terminal/lazy-commands.ts'

const GROUPS: Readonly<Record<string, LazyCommands>> = {
  'Run the gate:': {
    init: {
      summary: 'put the gate in front of the servers that MCP clients here already have',
      load: async () => (await import('../init/init.ts')).addInit,
    },
    up: {
      summary: 'run the gate',
      load: async () => (await import('./run/up.ts')).addUp,
    },
    stdio: {
      summary: 'the gate over stdin and stdout, for the servers of the configuration',
      load: async () => (await import('./run/stdio.ts')).addStdio,
    },
    wrap: {
      summary: 'the gate around one stdio server, without configuration',
      load: async () => (await import('./run/wrap.ts')).addWrap,
    },
    stop: {
      summary: 'end the gate, however it was started',
      load: async () => (await import('./run/stop.ts')).addStop,
    },
    server: {
      summary: 'add, change and remove servers while the gate runs',
      load: async () => (await import('./admin/server.ts')).addServer,
    },
    demo: {
      summary: 'a guided tour on the gate of `npm start`',
      load: async () => (await import('./run/demo.ts')).addDemo,
    },
  },
  'Say what may pass:': {
    policy: {
      summary: 'write, check, explain, test and prove policies',
      load: async () => (await import('./policy/commands.ts')).addPolicy,
    },
    ci: {
      summary: 'check, test and prove a policy, and show which decisions change',
      load: async () => (await import('./ci/ci.ts')).addCi,
    },
    enforce: {
      summary: 'turn on a policy that only observes, after showing what will change',
      load: async () => (await import('./policy/enforce.ts')).addEnforce,
    },
    scan: {
      summary: 'list the tools of servers and say what each can do',
      load: async () => (await import('./catalogue/scan.ts')).addScan,
    },
    tools: {
      summary: 'the definitions of tools, as a file',
      load: async () => (await import('./catalogue/tools.ts')).addTools,
    },
    classify: {
      summary: 'say what tools can do: category, risk, confidence, evidence, attacks',
      load: async () => (await import('./catalogue/classify.ts')).addClassify,
    },
    pin: {
      summary: 'write down which definitions of tools are accepted, and accept changed ones',
      load: async () => (await import('./catalogue/pin.ts')).addPin,
    },
    catalogue: {
      summary: 'what all known tools can do, as a site',
      load: async () => (await import('./catalogue/commands.ts')).addCatalogue,
    },
  },
  'Decide, and see what happened:': {
    console: {
      summary: 'open the page, signed in',
      load: async () => (await import('./run/console.ts')).addConsole,
    },
    approvals: {
      summary: 'calls that wait for a person',
      load: async () => (await import('./approvals/commands.ts')).addApprovals,
    },
    ledger: {
      summary: 'what happened: every call, with what was decided on it',
      load: async () => (await import('./ledger/commands.ts')).addLedger,
    },
    sessions: {
      summary: 'which sessions there are, and ending one',
      load: async () => (await import('./sessions/commands.ts')).addSessions,
    },
    traces: {
      summary: 'calls with their answers, recorded for a while',
      load: async () => (await import('./traces/commands.ts')).addTraces,
    },
    status: {
      summary: 'how the gate is',
      load: async () => (await import('./admin/status.ts')).addStatus,
    },
    gates: {
      summary: 'the gates that share a store',
      load: async () => (await import('./admin/gates.ts')).addGates,
    },
  },
  'Who may call, who may decide:': {
    grants: {
      summary: 'who may call, and under which policy',
      load: async () => (await import('./grants/commands.ts')).addGrants,
    },
    approvers: {
      summary: 'who may decide over held calls, the policy, grants and the freeze',
      load: async () => (await import('./admin/approvers.ts')).addApprovers,
    },
    login: {
      summary: 'log in at a server that wants OAuth',
      load: async () => (await import('./run/login.ts')).addLogin,
    },
  },
  'Operate it:': {
    doctor: {
      summary: 'check what a gate needs, and say what to do',
      load: async () => (await import('./admin/doctor.ts')).addDoctor,
    },
    logs: {
      summary: 'the log of a gate that clients started',
      load: async () => (await import('./admin/logs.ts')).addLogs,
    },
    freeze: {
      summary: 'let nothing pass any more, until a person thaws it',
      load: async () => (await import('./admin/freeze.ts')).addFreeze,
    },
    thaw: {
      summary: 'let pass again what was frozen',
      load: async () => (await import('./admin/freeze.ts')).addThaw,
    },
    backup: {
      summary: 'copy the data directory, also while the gate runs',
      load: async () => (await import('./admin/backup.ts')).addBackup,
    },
    restore: {
      summary: 'put a backup in the place of the data directory',
      load: async () => (await import('./admin/backup.ts')).addRestore,
    },
    completion: {
      summary: 'print the completion script of a shell',
      load: async () =>
        (await import('./completion/completion.ts')).createCompletion(() => COMMANDS),
    },
  },
  'Agents:': {
    agents: {
      summary: 'agents in WebAssembly sandboxes: run them, watch them, take them along',
      load: async () => (await import('./agents/commands.ts')).addAgents,
    },
  },
}

export const COMMANDS: LazyCommands = Object.fromEntries(
  Object.entries(GROUPS).flatMap(([group, commands]) =>
    Object.entries(commands).map(([name, command]): [string, LazyCommand] => [
      name,
      { ...command, group },
    ]),
  ),
)
