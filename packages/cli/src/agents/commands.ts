// `sluice agents …`: its commands in the order help shows them.

import type { Command } from 'commander'
import type { SetExitCode } from '../terminal/exit-code.ts'
import { addAgentsAcp } from './acp.ts'
import { addAgentsCompare } from './compare.ts'
import { addAgentsControl, addAgentsExport, addAgentsImport, addAgentsReplay } from './control.ts'
import { addAgentsCreate, addAgentsPrompt } from './run.ts'
import { addAgentsSchedule, addAgentsSchedules, addAgentsUnschedule } from './schedule.ts'
import { addAgentsServe } from './serve.ts'
import { addAgentsFiles, addAgentsLs, addAgentsTodos } from './show.ts'
import { addAgentsTrust } from './trust.ts'
import { addAgentsLogs, addAgentsShow } from './watch.ts'

const EXAMPLES = `
Examples:
  sluice agents create --model ollama:llama3 --template coder        prints the id of the new agent
  sluice agents prompt agent_… "write a README for these files"
  sluice agents todos agent_…
  sluice agents files agent_… README.md
  sluice agents export agent_… --out agent.json

If a gate runs the agents (\`agents: { builtin: agents }\` in sluice.yaml), these ask it.
All about them: docs/concepts/agents.md.`

export function add(program: Command, answer: SetExitCode): void {
  const agents = program.command('agents').helpCommand(false).addHelpText('after', EXAMPLES)
  for (const add of [
    addAgentsServe,
    addAgentsAcp,
    addAgentsLs,
    addAgentsCreate,
    addAgentsPrompt,
    addAgentsShow,
    addAgentsTodos,
    addAgentsFiles,
    addAgentsLogs,
    addAgentsSchedule,
    addAgentsSchedules,
    addAgentsUnschedule,
    addAgentsControl,
    addAgentsCompare,
    addAgentsReplay,
    addAgentsExport,
    addAgentsImport,
    addAgentsTrust,
  ])
    add(agents, answer)
}
