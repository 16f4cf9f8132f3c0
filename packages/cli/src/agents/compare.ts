// `sluice agents compare`: two agents turn by turn, as a fork with another model and the agent that it was
// forked from.

import { type ComparedSide, compareTurns } from '@sluice/agents/tools/compare-turns'
import { printable } from '../terminal/output.ts'
import { defineAgentsCommand } from './open-agents.ts'
import { readHistory } from './watch.ts'

const EXAMPLES = `
Examples:
  sluice agents fork agent_… --at 3 --model ollama:llama3 --again      prints the id of the fork
  sluice agents compare agent_… agent_…

Exit code 0 if all turns are the same, 1 if one differs.`

export const addAgentsCompare = defineAgentsCommand({
  name: 'compare',
  description: 'the first turn in which two agents differ, and what each has used',
  args: { '<agent>': '', '<other>': '' },
  examples: EXAMPLES,
  run: async (agents, { agent, other }, output) => {
    const ids = [agent, other] as const
    const [one = [], two = []] = await Promise.all(ids.map((id) => readHistory(agents, id)))
    const compared = compareTurns(one, two)
    output.value({ agents: ids, ...compared })
    if (compared.from === null) output.line('neither has a turn in its journal')
    else if (compared.turn === null) output.line(`same from turn ${compared.from} on`)
    else output.line(`turn ${compared.turn} differs`)
    for (const [at, side] of compared.sides.entries()) {
      output.line(`${ids[at]}  ${spentLine(side)}`)
      if (compared.turn !== null) for (const line of turnLines(side)) output.line(`  ${line}`)
    }
    return compared.turn === null ? 0 : 1
  },
})

function spentLine({ turns, tokens, cost }: ComparedSide): string {
  return `${turns} turns, ${tokens} tokens${cost === null ? '' : `, cost ${cost.toFixed(4)}`}`
}

function turnLines({ at }: ComparedSide): string[] {
  if (at === null) return ['(no such turn)']
  const text = at.text === '' ? [] : at.text.split('\n').map((line) => printable(line))
  return [...text, ...at.calls.map(({ name, input }) => printable(`calls ${name} ${input}`))]
}
