// All commands by their first word, in the order help shows them, each with what loads it.

import {
  type CommandRows,
  type LazyCommands,
  toLazyCommands,
  toOldNames,
} from './terminal/lazy-commands.ts'

const GROUPS: Readonly<Record<string, CommandRows>> = {
  'Run the gate:': {
    init: [
      'put the gate in front of the MCP servers your clients already use',
      async () => {
        const { createInit } = await import('./init/init.ts')
        const { proveHooks } = await import('./connect/prove-hooks.ts')
        return { add: createInit(proveHooks) }
      },
    ],
    up: ['run the gate', () => import('./run/up.ts')],
    stdio: ['serve the configured servers over stdin and stdout', () => import('./run/stdio.ts')],
    wrap: [
      'run one stdio server behind a gate, without configuration',
      () => import('./run/wrap.ts'),
    ],
    stop: ['stop the gate, however it was started', () => import('./run/stop.ts')],
    server: [
      'add, change and remove servers while the gate runs',
      () => import('./admin/server.ts'),
    ],
    call: ['call one tool through the gate', () => import('./run/call.ts')],
    demo: ['a guided tour on the gate of `npm start`', () => import('./run/demo.ts')],
  },
  'Write and test policies:': {
    policy: [
      'write, check, explain, test and prove policies',
      () => import('./policy/commands.ts'),
    ],
    ci: [
      'check, test and prove a policy, and show which decisions change',
      () => import('./ci/ci.ts'),
    ],
    threats: [
      'the shortest way to harm under the policy, and what closes it',
      () => import('./policy/threats.ts'),
    ],
    enforce: [
      'turn on an observe-only policy, after showing what will change',
      () => import('./policy/enforce.ts'),
    ],
    scan: [
      'list and classify the tools of servers, fail a build on them',
      () => import('./catalogue/scan.ts'),
    ],
    pin: [
      'list accepted tool definitions, accept changed ones',
      () => import('./catalogue/pin.ts'),
    ],
    catalogue: ['build a site of all known tools', () => import('./catalogue/commands.ts')],
  },
  'Approve calls, see what happened:': {
    console: ['open the web console, signed in', () => import('./run/console.ts')],
    approvals: [
      'calls waiting for approval: list, approve, deny',
      () => import('./approvals/commands.ts'),
    ],
    ledger: ['the audit log: every call and its decision', () => import('./ledger/commands.ts')],
    sessions: ['list sessions, end one', () => import('./sessions/commands.ts')],
    undo: ['bring back files that a line of a coding agent changed', () => import('./run/undo.ts')],
    traces: [
      'record calls with their answers for a limited time',
      () => import('./traces/commands.ts'),
    ],
    status: ['show the state of the gate', () => import('./admin/status.ts')],
    gates: ['the gates that share a store', () => import('./admin/gates.ts')],
    store: [
      'move a data directory into a store that gates share',
      () => import('./admin/store.ts'),
    ],
  },
  'People and callers:': {
    grants: ['who may call, and under which policy', () => import('./grants/commands.ts')],
    approvers: [
      'who may approve calls and change the policy, grants and freezes',
      () => import('./admin/approvers.ts'),
    ],
    login: ['sign in to a server that uses OAuth', () => import('./run/login.ts')],
  },
  'Operate:': {
    doctor: ['check the setup and say what to fix', () => import('./admin/doctor.ts')],
    'support-bundle': [
      'write what somebody who helps needs to know, with secrets masked',
      () => import('./admin/support-bundle.ts'),
    ],
    logs: ['show the log of a gate that clients started', () => import('./admin/logs.ts')],
    forget: [
      'delete the name of somebody from the records',
      async () => ({ add: (await import('./admin/forget.ts')).addForget }),
    ],
    freeze: [
      'deny every call until a person lifts the freeze; --lift lifts it',
      () => import('./admin/freeze.ts'),
    ],
    backup: [
      'copy the data directory, also while the gate runs',
      async () => ({ add: (await import('./admin/backup.ts')).addBackup }),
    ],
    restore: [
      'replace the data directory by a backup',
      async () => ({ add: (await import('./admin/backup.ts')).addRestore }),
    ],
    completion: [
      'print the completion script of a shell',
      async () => {
        const { createCompletion } = await import('./completion/completion.ts')
        return { add: createCompletion(() => COMMANDS) }
      },
    ],
  },
  'Agents:': {
    agents: [
      'agents in WebAssembly sandboxes: run, watch, export and move them',
      () => import('./agents/commands.ts'),
    ],
  },
}

const OLD_NAMES: LazyCommands = toOldNames({
  tools: ['scan --out', () => import('./catalogue/tools.ts')],
  classify: ['scan --evidence', () => import('./catalogue/classify.ts')],
  thaw: ['freeze --lift', async () => ({ add: (await import('./admin/freeze.ts')).addThaw })],
})

export const COMMANDS: LazyCommands = {
  ...Object.fromEntries(
    Object.entries(GROUPS).flatMap(([group, rows]) => Object.entries(toLazyCommands(rows, group))),
  ),
  ...OLD_NAMES,
}

/** What `sluice --help` shows. `sluice help --all` shows all. */
export const FIRST_COMMANDS: readonly string[] = [
  'init',
  'up',
  'status',
  'doctor',
  'approvals',
  'ledger',
  'policy',
  'agents',
  'console',
]
