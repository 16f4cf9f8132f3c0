// `sluice agents serve`: the agents' MCP server over stdio, for a client that starts it. Stdout is
// the channel; everything else goes to stderr. Runs go on until the client has gone, and by
// themselves at the next start.

import type { Command } from 'commander'
import { readPackageVersion } from '../../gateway/shared/package-version.ts'
import type { SetExitCode } from '../../terminal/exit-code.ts'
import { type AgentsOptions, addAgentsOptions, OWNER, withService } from './open-agents.ts'

const EXAMPLES = `
Examples:
  sluice agents serve --data ./.sluice
  claude mcp add agents -- npx sluice agents serve --data ~/.sluice`

export function addAgentsServe(parent: Command, answer: SetExitCode): void {
  addAgentsOptions(parent.command('serve'))
    .description('the agents as an MCP server over stdio')
    .addHelpText('after', EXAMPLES)
    .action(async (options: AgentsOptions) => {
      await withService(options, async (service) => {
        const { serveAgentsOverStdio } = await import('../../agents/mcp/serve-stdio.ts')
        const handle = serveAgentsOverStdio(service, { owner: OWNER }, readPackageVersion())
        await new Promise<void>((resolve) => {
          process.stdin.once('close', resolve)
          process.stdin.once('end', resolve)
          for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve())
        })
        await handle.close()
      })
      answer(0)
    })
}
