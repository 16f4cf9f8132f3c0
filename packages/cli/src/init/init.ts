// `sluice init`: finds the MCP clients of this machine, asks the servers they name for their tools
// (only those that were agreed to, by their command), writes sluice.yaml with a policy that fits, and
// on request puts the gate in front of them. Starts nothing unasked; `--undo` takes it back.

import { existsSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { homeOf } from '@sluice/gateway/config/user-folders'
import { pickDefined } from '@sluice/policy/structures/pick-defined'
import { defineCommand } from '../terminal/define-command.ts'
import { ArgumentError } from '../terminal/errors.ts'
import type { AddCommand } from '../terminal/lazy-commands.ts'
import { CLIENTS } from './files/client.ts'
import { initHooks, type ProveHooks, undoHooks } from './hooks.ts'
import { findServers } from './move/find-servers.ts'
import { type ConfigPlace, findRecord, placeConfig, thisMachine } from './place.ts'
import { pointToView } from './point-view.ts'
import { INIT_OPTIONS, Init } from './run-init.ts'
import { undoInit } from './undo.ts'

const EXAMPLES = `
Examples:
  sluice init --dry-run              what was found, and every line that would change; starts nothing
  sluice init                        asks before each server is started, and before files change
  sluice init --yes --move           all servers of your own files, without questions
  sluice init --observe              everything passes; \`sluice enforce\` turns the policy on later
  sluice init --yes notes            only this one; needed for a server that came with a project
  sluice init --hooks                the clients' own tools (shell, files, web) ask the gate, too; offers a box for the shell
  sluice init --hooks --quiet        and the gate answers their questions about local reads
  sluice init --view support         an entry for a view of sluice.yaml, in the files of this project
  sluice init --undo                 restores the clients' entries; later changes stay

Clients: ${Object.values(CLIENTS).join(', ')}.
A server that came with a project (.mcp.json, .cursor/mcp.json, …) is listed and never started unless
it is named. Keys go to sluice.env, which only you can read. docs/how-to/clients.md says more.`

/** The command, with what proves that a person takes hooks back. */
export function createInit(prove: ProveHooks): AddCommand {
  return defineCommand({
    name: 'init',
    options: INIT_OPTIONS,
    examples: EXAMPLES,
    run: async (options, output, command) => {
      const isNamed = command.getOptionValueSource('config') !== 'default'
      const user = { home: homeOf(process.env), environment: process.env }
      if (options.undo === true) {
        const beside = join(dirname(resolve(options.config)), 'sluice.moved.json')
        const record = isNamed ? beside : findRecord(options.config, user)
        const isDry = options.dryRun === true
        const config = join(dirname(record), 'sluice.yaml')
        const hooked = await undoHooks(config, isDry, prove, output)
        if (hooked > 0 && !existsSync(record)) return 0
        return undoInit(record, isDry, output)
      }
      const { view, client, ...rest } = options
      if (client !== undefined && view === undefined)
        throw new ArgumentError('--client is about views', 'use it with --view')
      if (view !== undefined) {
        const { config } = isNamed ? options : placeConfig(options.config, [], user)
        return pointToView(
          { ...rest, ...pickDefined({ client }), config: resolve(config), view },
          output,
        )
      }
      if (options.quiet === true && options.hooks === undefined && options.managed === undefined)
        throw new ArgumentError('--quiet is about hooks', 'use it with --hooks')
      if (options.hooks !== undefined || options.managed !== undefined) {
        const { hooks = true, managed: root, ...others } = options
        const { config } = isNamed ? options : placeConfig(options.config, [], user)
        const managed = root === undefined ? {} : { managed: root === true ? '/' : root }
        return initHooks({ ...others, ...managed, config, hooks }, prove, output)
      }
      const discovery = await findServers(thisMachine(options.project))
      const { config, because }: ConfigPlace = isNamed
        ? { config: options.config }
        : placeConfig(options.config, discovery.servers, user)
      if (because !== undefined)
        output.remark(`the gate's files go to ${dirname(config)}: ${because}`)
      return new Init({ ...options, config }, output).run(discovery)
    },
  })
}
