// `sluice agents …`: its commands in the order help shows them. Loaded only where one is asked for
// (all-commands.ts).

import type { Command } from 'commander'
import type { Answer } from '../answer.ts'
import { addAgentsControl, addAgentsExport, addAgentsImport } from './control.ts'
import { addAgentsCreate, addAgentsPrompt } from './run.ts'
import { addAgentsServe } from './serve.ts'
import { addAgentsFiles, addAgentsLs, addAgentsTodos } from './show.ts'

export function addAgents(program: Command, answer: Answer): void {
  const agents = program
    .command('agents')
    .description('agents in WebAssembly sandboxes: run them, watch them, take them along')
    .helpCommand(false)
  for (const add of [
    addAgentsServe,
    addAgentsLs,
    addAgentsCreate,
    addAgentsPrompt,
    addAgentsTodos,
    addAgentsFiles,
    addAgentsControl,
    addAgentsExport,
    addAgentsImport,
  ])
    add(agents, answer)
}
