// `sluice agents acp`: the agents as an agent of the Agent Client Protocol over stdio, for editors that have a chat.
// Stdout is the channel; everything else goes to stderr. When the editor closes, nothing is cancelled: a run goes on
// in the gate, or at the next start where no gate runs.

import { createInterface } from 'node:readline'
import { type AcpAgents, AcpConnection, AgentCallError } from '@sluice/agents/acp/connection'
import { AgentError } from '@sluice/agents/shared/errors'
import { readPackageVersion } from '@sluice/gateway/shared/package-version'
import { type AgentsApi, AgentsCallError } from './agents-api.ts'
import { defineAgentsCommand } from './open-agents.ts'
import { CREATE_OPTIONS, toCreateRequest } from './run.ts'

const EXAMPLES = `
Examples:
  sluice agents acp --model ollama:llama3 --tools "github/*"
  sluice agents acp --template coder --skill ./skills/release-notes

In the settings of Zed, and alike in other editors:
  "agent_servers": { "Sluice": { "command": "sluice", "args": ["agents", "acp", "--model", "ollama:llama3"] } }

A session of the editor is an agent. Calls that wait for approval are approved at the gate, never in the editor.`

export const addAgentsAcp = defineAgentsCommand({
  name: 'acp',
  description: 'the agents as a chat of your editor (Agent Client Protocol over stdio)',
  options: CREATE_OPTIONS,
  json: false,
  examples: EXAMPLES,
  run: async (agents, options) => {
    const connection = new AcpConnection({
      agents: toAcpAgents(agents),
      create: toCreateRequest(options),
      version: readPackageVersion(),
      send: (message) => process.stdout.write(`${JSON.stringify(message)}\n`),
    })
    // The editor has gone: there is nobody to tell.
    process.stdout.on('error', () => undefined)
    const lines = createInterface({ input: process.stdin, terminal: false })
    lines.on('line', (line) => {
      if (line.trim() !== '') void connection.receive(line)
    })
    await new Promise<void>((done) => lines.once('close', done))
  },
})

function toAcpAgents(agents: AgentsApi): AcpAgents {
  return {
    call: async <View>(...request: Parameters<AcpAgents['call']>): Promise<View> => {
      try {
        return await agents.call<View>(...request)
      } catch (error) {
        if (error instanceof AgentError) {
          const { code, message } = error
          throw new AgentCallError(code, `${message} (${code})`)
        }
        if (error instanceof AgentsCallError && error.refusal !== undefined)
          throw new AgentCallError(error.refusal, error.message)
        throw error
      }
    },
  }
}
