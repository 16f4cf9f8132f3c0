// `sluice agents …`: its commands in the order help shows them. Loaded only where one is asked for
// (all-commands.ts).

import type { Command } from 'commander'
import { addAgentsControl, addAgentsExport, addAgentsImport } from './agents-control.ts'
import { addAgentsCreate, addAgentsPrompt } from './agents-run.ts'
import { addAgentsServe } from './agents-serve.ts'
import { addAgentsFiles, addAgentsLs, addAgentsTodos } from './agents-show.ts'
import type { Answer } from './answer.ts'

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
