// The definitions of tools as a file that `sluice policy … --tools` and `sluice scan --tools` read, from the servers of a
// configuration or from what a gate has seen: `sluice scan --out`, and `sluice tools export`, its old name.

import { markOwnTool } from '@sluice/catalogue/classify/own-tools'
import { readGateStore } from '@sluice/gateway/data/gate-store'
import { readKeptTools } from '@sluice/gateway/tools/stored-tools'
import type { Command } from 'commander'
import { findData } from '../connect/find-data.ts'
import { loadConfig } from '../connect/load-config.ts'
import { defineCommand, type OptionsOf } from '../terminal/define-command.ts'
import type { SetExitCode } from '../terminal/exit-code.ts'
import { type Output, plural } from '../terminal/output.ts'
import { listInstructions } from '../terminal/server-instructions.ts'
import { writeOutput } from '../terminal/write-new-file.ts'
import { type ListedTools, listConfiguredTools, nameBuiltin, remarkLeftOut } from './list-tools.ts'

const EXAMPLES = `
Examples:
  sluice tools export --out tools.json       starts the servers of sluice.yaml and lists their tools
  sluice tools export --seen > tools.json    what the gate has seen; starts nothing
  sluice policy check --tools tools.json

Exit code 0, or 1 if a server was left out, which is reported.`

const OPTIONS = {
  '--config <file>': ['the configuration', 'sluice.yaml'],
  '--data <dir>': 'the data directory, with --seen',
  '--seen': 'what the gate has seen of its servers; none is started',
  '--out <file>': 'where to write it, instead of stdout',
} as const

export function add(program: Command, answer: SetExitCode): void {
  addExport(program.command('tools').helpCommand(false), answer)
}

const addExport = defineCommand({
  name: 'export',
  description: 'write the file that `sluice policy … --tools` reads',
  options: OPTIONS,
  json: false,
  examples: EXAMPLES,
  run: async (options, output) => {
    const listed = await toolsOf(options, output)
    remarkLeftOut(listed, output)
    writeDefinitions(listed, options.out)
    if (options.out !== undefined)
      output.remark(`wrote ${options.out}: ${plural(listed.tools.length, 'tool')}`)
    return listed.leftOut.length === 0 ? 0 : 1
  },
})

/** To stdout without a file. */
export function writeDefinitions({ tools }: ListedTools, file: string | undefined): void {
  const about = { ...nameBuiltin(tools), ...listInstructions(tools) }
  writeOutput(`${JSON.stringify({ ...about, tools }, null, 2)}\n`, file)
}

async function toolsOf(options: OptionsOf<typeof OPTIONS>, output: Output): Promise<ListedTools> {
  return options.seen === true
    ? listSeenTools(options)
    : listConfiguredTools(loadConfig(options, output), output)
}

/** What the gate has seen of its servers; starts nothing. */
export function listSeenTools(options: Parameters<typeof findData>[0]): ListedTools {
  const { data, builtin = [] } = findData(options)
  const tools = readGateStore(data, readKeptTools).map(({ definition }) => definition)
  for (const tool of tools) if (builtin.includes(tool.server)) markOwnTool(tool)
  return { tools, leftOut: [] }
}
