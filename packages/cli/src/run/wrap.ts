// `sluice wrap -- COMMAND`: the gate around one stdio server without any configuration. It writes
// one of its own into a folder of the user's, by the command and the folder it is run in, so that
// limits and the record stay from run to run.

import { hash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { StoreError } from '@sluice/ledger/store/errors'
import { makePrivateFolder } from '@sluice/ledger/store/files/private-folder'
import { defineCommand } from '../terminal/define-command.ts'
import { ArgumentError, CliError } from '../terminal/errors.ts'
import { loadPolicy } from '../terminal/load-policy.ts'
import { pipe, readEnvOptions } from './pipe.ts'

const SERVER = 'wrapped'

/** What is run without `--policy`: reading is free, writing is limited, the rest is held. */
const SUGGESTED = `# Written by sluice wrap; use --policy FILE for one of your own.
version: 1
default: require_approval
categories:
  Read: allow
  Write: { action: allow, rate_limit: { max: 30, window: 60 } }
methods:
  roots/list: allow
  elicitation/create: allow
`

const EXAMPLES = `
Examples:
  sluice wrap -- npx -y @modelcontextprotocol/server-memory
  sluice wrap --policy policy.yaml -- node server.js

The server gets the environment of this command without SLUICE_*; --env adds to it. Nothing of it is
stored. In the policy the server is called \`${SERVER}\`. Without --policy reading is allowed, writing is
allowed 30 times a minute, and everything else waits for you: \`sluice approvals watch --data DIR\`,
with the directory that stderr names, shows what does.`

export const add = defineCommand({
  name: 'wrap',
  args: { '<command...>': 'the server and its arguments, after --' },
  options: {
    '--policy <file>': 'the policy',
    '--data <dir>': 'the data directory',
    '--env <name...>': ['a variable for the server: NAME of this environment, or NAME=value', []],
  },
  json: false,
  examples: EXAMPLES,
  run: async ({ command, ...options }, output) => {
    if (options.policy !== undefined) loadPolicy(options.policy, {}, output)
    const data = options.data === undefined ? dataFor(command) : resolve(options.data)
    if (options.policy === undefined)
      output.remark(
        `sluice: no --policy, so reading is allowed, writing limited, the rest held: \`sluice approvals watch --data ${data}\``,
      )
    const file = writeConfig(data, command, options.policy)
    const program = () => command[0]
    const variables = readEnvOptions(options.env)
    return pipe({ data, server: SERVER, config: () => file, variables, program })
  },
})

function dataFor(command: readonly string[]): string {
  const key = JSON.stringify([process.cwd(), ...command])
  const digest = hash('sha256', key).slice(0, 16)
  const state = process.env.XDG_STATE_HOME ?? join(homedir(), '.local', 'state')
  return join(state, 'sluice', `wrap-${digest}`)
}

/** JSON is YAML too, and needs no care with quotes; `\${` would be a variable. */
function writeConfig(data: string, command: readonly string[], policy: string | undefined): string {
  if (command.some((word) => word.includes('${')))
    throw new ArgumentError('the command has `${` in it', 'put it into a sluice.yaml')
  const config = {
    version: 1,
    data,
    servers: { [SERVER]: { command, cwd: process.cwd() } },
    policy: policy === undefined ? join(data, 'policy.yaml') : resolve(policy),
  }
  try {
    makePrivateFolder(data)
    if (policy === undefined) writeFileSync(join(data, 'policy.yaml'), SUGGESTED, { mode: 0o600 })
    const file = join(data, 'sluice.yaml')
    writeFileSync(file, `${JSON.stringify(config, null, 2)}\n`, { mode: 0o600 })
    return file
  } catch (error) {
    if (error instanceof StoreError) throw error
    throw new CliError(
      'CLI_FILE',
      `\`${data}\` cannot be written: ${(error as Error).message}`,
      'name another --data',
    )
  }
}
