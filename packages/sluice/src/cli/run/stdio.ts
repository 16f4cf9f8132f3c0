// `sluice stdio`: the gate for MCP clients that only start commands. Standard output belongs to the
// protocol; everything else goes to stderr or the gate's log.

import type { Command } from 'commander'
import { ALL_SERVERS } from '../../gateway/shared/transport.ts'
import type { SetExitCode } from '../../terminal/exit-code.ts'
import { Output } from '../../terminal/output.ts'
import { loadConfig } from '../connect/load-config.ts'
import { pipe } from './pipe.ts'

interface Options {
  server?: string
  config: string
  data?: string
}

const EXAMPLES = `
Examples:
  sluice stdio --server notes
  { "mcpServers": { "notes": { "command": "sluice", "args": ["stdio", "--server", "notes"] } } }
  sluice stdio                     all servers at once; their tools are called notes__read_graph

Where no gate runs on the data directory, one is started; it ends a minute after its last client.`

export function addStdio(parent: Command, answer: SetExitCode): void {
  parent
    .command('stdio')
    .description('the gate over stdin and stdout, for the servers of the configuration')
    .option('--server <name>', 'one server of the configuration; all of them without')
    .option('--config <file>', 'the configuration', 'sluice.yaml')
    .option('--data <dir>', 'another data directory than the configuration says')
    .addHelpText('after', EXAMPLES)
    .action(async (options: Options) => {
      const config = loadConfig(options, new Output({}))
      answer(await pipe(config.data, config.file, options.server ?? ALL_SERVERS))
    })
}
