// `sluice stdio`: the gate for MCP clients that only start commands. Standard output belongs to the
// protocol; everything else goes to stderr or the gate's log.

import { readWrittenServers } from '@sluice/gateway/config/edit-servers'
import { TOOL_MODES } from '@sluice/gateway/shared/tool-mode'
import { ALL_SERVERS } from '@sluice/gateway/shared/transport'
import { addressOfView } from '@sluice/gateway/shared/view'
import { nearest } from '@sluice/policy/document/nearest'
import { findData } from '../connect/find-data.ts'
import { CONFIG_OPTIONS, loadConfig } from '../connect/load-config.ts'
import { defineCommand } from '../terminal/define-command.ts'
import { ArgumentError } from '../terminal/errors.ts'
import { readText } from '../terminal/read-input.ts'
import { pipe, readEnvOptions } from './pipe.ts'

const EXAMPLES = `
Examples:
  sluice stdio --server notes
  { "mcpServers": { "notes": { "command": "sluice", "args": ["stdio", "--server", "notes"] } } }
  sluice stdio                     all servers at once; their tools are called notes__read_graph
  sluice stdio --view support      the tools of the view \`support\` of sluice.yaml
  sluice stdio --mode search       three tools that find and call all others
  sluice stdio --mode code         the model writes programs that call them; needs \`code: { builtin: code }\`

If no gate runs on the data directory, one is started; it ends a minute after its last client. The
server gets the environment of this command without SLUICE_*, and on top what \`env:\` of sluice.yaml says.`

export const add = defineCommand({
  name: 'stdio',
  options: {
    '--server <name>': 'one server of the configuration (default: all)',
    '--view <name>': { doc: 'a view of the configuration', conflicts: 'server' },
    '--mode <mode>': {
      doc: 'all servers or a view: list every tool, or a few to find and call them by',
      choices: [...TOOL_MODES],
      conflicts: 'server',
    },
    ...CONFIG_OPTIONS,
    '--env <name...>': ['a variable for the server: NAME of this environment, or NAME=value', []],
  },
  json: false,
  examples: EXAMPLES,
  run: async (options, output) => {
    // A gate that runs has its configuration: only if none does must this shell have all variables.
    const { data, servers, views } = findData(options, { mayBeMissing: true })
    if (options.server !== undefined) checkName('server', options.server, servers)
    if (options.view !== undefined) checkName('view', options.view, views)
    const view = options.view === undefined ? undefined : addressOfView(options.view)
    const config = () => loadConfig(options, output).file
    const variables = readEnvOptions(options.env)
    const server = options.server ?? view ?? ALL_SERVERS
    const program = () => programOf(options.config, server)
    const { mode } = options
    return pipe({ data, config, server, mode, variables, program })
  },
})

/** A mistyped name, before a gate is started for it. One that is like no other is left to the gate. */
function checkName(kind: 'server' | 'view', name: string, names: readonly string[] = []): void {
  const near = nearest(name, names)
  if (names.includes(name) || near === undefined) return
  throw new ArgumentError(`no ${kind} is called \`${name}\``, `did you mean \`${near}\`?`)
}

function programOf(file: string, server: string): string | undefined {
  try {
    const { command } = readWrittenServers(readText(file))[server] ?? {}
    return Array.isArray(command) ? String(command[0]) : undefined
  } catch {
    return undefined
  }
}
