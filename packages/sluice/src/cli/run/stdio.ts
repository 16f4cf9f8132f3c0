// `sluice stdio`: the gate for MCP clients that only start commands. Standard output belongs to the
// protocol; everything else goes to stderr or the gate's log.

import type { Command } from 'commander'
import { readWrittenServers } from '../../gateway/config/edit-servers.ts'
import { ALL_SERVERS } from '../../gateway/shared/transport.ts'
import type { SetExitCode } from '../../terminal/exit-code.ts'
import { Output } from '../../terminal/output.ts'
import { readText } from '../../terminal/read-input.ts'
import { findData } from '../connect/find-data.ts'
import { loadConfig } from '../connect/load-config.ts'
import { pipe, readEnvOptions } from './pipe.ts'

interface Options {
  server?: string
  config: string
  data?: string
  env: string[]
}

const EXAMPLES = `
Examples:
  sluice stdio --server notes
  { "mcpServers": { "notes": { "command": "sluice", "args": ["stdio", "--server", "notes"] } } }
  sluice stdio                     all servers at once; their tools are called notes__read_graph

Where no gate runs on the data directory, one is started; it ends a minute after its last client. The
server gets the environment of this command without SLUICE_*, and on top what \`env:\` of sluice.yaml says.`

export function addStdio(parent: Command, answer: SetExitCode): void {
  parent
    .command('stdio')
    .option('--server <name>', 'one server of the configuration; all of them without')
    .option('--config <file>', 'the configuration', 'sluice.yaml')
    .option('--data <dir>', 'another data directory than the configuration says')
    .option(
      '--env <name...>',
      'a variable for the server: NAME of this environment, or NAME=value',
      [],
    )
    .addHelpText('after', EXAMPLES)
    .action(async (options: Options) => {
      // A gate that runs has its configuration: only if none does must this shell have all variables.
      const { data } = findData(options, { mayBeMissing: true })
      const config = () => loadConfig(options, new Output({})).file
      const variables = readEnvOptions(options.env)
      const server = options.server ?? ALL_SERVERS
      const program = () => programOf(options.config, server)
      answer(await pipe({ data, config, server, variables, program }))
    })
}

function programOf(file: string, server: string): string | undefined {
  try {
    const { command } = readWrittenServers(readText(file))[server] ?? {}
    return Array.isArray(command) ? String(command[0]) : undefined
  } catch {
    return undefined
  }
}
