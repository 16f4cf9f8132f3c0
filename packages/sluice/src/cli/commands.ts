// All commands by their first word, in the order help shows them, each with what loads it.

import type { LazyCommand, LazyCommands } from '../terminal/lazy-commands.ts'

const GROUPS: Readonly<Record<string, LazyCommands>> = {
  'Run the gate:': {
    init: {
      summary: 'put the gate in front of the MCP servers your clients already use',
      load: async () => (await import('../init/init.ts')).addInit,
    },
    up: {
      summary: 'run the gate',
      load: async () => (await import('./run/up.ts')).addUp,
    },
    stdio: {
      summary: 'serve the configured servers over stdin and stdout',
      load: async () => (await import('./run/stdio.ts')).addStdio,
    },
    wrap: {
      summary: 'run one stdio server behind a gate, without configuration',
      load: async () => (await import('./run/wrap.ts')).addWrap,
    },
    stop: {
      summary: 'stop the gate, however it was started',
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
  'Write and test policies:': {
    policy: {
      summary: 'write, check, explain, test and prove policies',
      load: async () => (await import('./policy/commands.ts')).addPolicy,
    },
    ci: {
      summary: 'check, test and prove a policy, and show which decisions change',
      load: async () => (await import('./ci/ci.ts')).addCi,
    },
    enforce: {
      summary: 'turn on an observe-only policy, after showing what will change',
      load: async () => (await import('./policy/enforce.ts')).addEnforce,
    },
    scan: {
      summary: 'list and classify the tools of servers',
      load: async () => (await import('./catalogue/scan.ts')).addScan,
    },
    tools: {
      summary: 'export tool definitions to a file',
      load: async () => (await import('./catalogue/tools.ts')).addTools,
    },
    classify: {
      summary: 'classify tools: category, risk, confidence, evidence, attacks',
      load: async () => (await import('./catalogue/classify.ts')).addClassify,
    },
    pin: {
      summary: 'list accepted tool definitions, accept changed ones',
      load: async () => (await import('./catalogue/pin.ts')).addPin,
    },
    catalogue: {
      summary: 'build a site of all known tools',
      load: async () => (await import('./catalogue/commands.ts')).addCatalogue,
    },
  },
  'Approve calls, see what happened:': {
    console: {
      summary: 'open the web console, signed in',
      load: async () => (await import('./run/console.ts')).addConsole,
    },
    approvals: {
      summary: 'calls waiting for approval: list, approve, deny',
      load: async () => (await import('./approvals/commands.ts')).addApprovals,
    },
    ledger: {
      summary: 'the audit log: every call and its decision',
      load: async () => (await import('./ledger/commands.ts')).addLedger,
    },
    sessions: {
      summary: 'list sessions, end one',
      load: async () => (await import('./sessions/commands.ts')).addSessions,
    },
    traces: {
      summary: 'record calls with their answers for a limited time',
      load: async () => (await import('./traces/commands.ts')).addTraces,
    },
    status: {
      summary: 'show the state of the gate',
      load: async () => (await import('./admin/status.ts')).addStatus,
    },
    gates: {
      summary: 'the gates that share a store',
      load: async () => (await import('./admin/gates.ts')).addGates,
    },
    store: {
      summary: 'move a data directory into a store that gates share',
      load: async () => (await import('./admin/store.ts')).addStore,
    },
  },
  'People and callers:': {
    grants: {
      summary: 'who may call, and under which policy',
      load: async () => (await import('./grants/commands.ts')).addGrants,
    },
    approvers: {
      summary: 'who may approve calls and change the policy, grants and freezes',
      load: async () => (await import('./admin/approvers.ts')).addApprovers,
    },
    login: {
      summary: 'sign in to a server that uses OAuth',
      load: async () => (await import('./run/login.ts')).addLogin,
    },
  },
  'Operate:': {
    doctor: {
      summary: 'check the setup and say what to fix',
      load: async () => (await import('./admin/doctor.ts')).addDoctor,
    },
    'support-bundle': {
      summary: 'write what somebody who helps needs to know, with secrets masked',
      load: async () => (await import('./admin/support-bundle.ts')).addSupportBundle,
    },
    logs: {
      summary: 'show the log of a gate that clients started',
      load: async () => (await import('./admin/logs.ts')).addLogs,
    },
    freeze: {
      summary: 'deny every call until a person lifts the freeze',
      load: async () => (await import('./admin/freeze.ts')).addFreeze,
    },
    thaw: {
      summary: 'lift a freeze',
      load: async () => (await import('./admin/freeze.ts')).addThaw,
    },
    backup: {
      summary: 'copy the data directory, also while the gate runs',
      load: async () => (await import('./admin/backup.ts')).addBackup,
    },
    restore: {
      summary: 'replace the data directory by a backup',
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
      summary: 'agents in WebAssembly sandboxes: run, watch, export and move them',
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
