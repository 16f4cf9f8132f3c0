// `sluice agents serve`: the agents' MCP server over stdio, for a client that starts it. Stdout is
// the channel; everything else goes to stderr. Runs go on until the client has gone, and by
// themselves at the next start.

import { readPackageVersion } from '@sluice/gateway/shared/package-version'
import { defineCommand } from '../terminal/define-command.ts'
import { AGENTS, OWNER, withService } from './open-agents.ts'

const EXAMPLES = `
Examples:
  sluice agents serve --data ./.sluice
  claude mcp add agents -- npx sluice agents serve --data ~/.sluice`

export const addAgentsServe = defineCommand({
  name: 'serve',
  description: 'the agents as an MCP server over stdio',
  options: AGENTS,
  json: false,
  examples: EXAMPLES,
  run: async (options) => {
    await withService(options, async (service) => {
      const { serveAgentsOverStdio } = await import('@sluice/agents/mcp/serve-stdio')
      const handle = serveAgentsOverStdio(service, { owner: OWNER }, readPackageVersion())
      await new Promise<void>((resolve) => {
        process.stdin.once('close', resolve)
        process.stdin.once('end', resolve)
        for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve())
      })
      await handle.close()
    })
  },
})
