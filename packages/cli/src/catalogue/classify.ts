// `sluice classify`, the old name of `sluice scan --evidence`: what each of the tools on standard input can do, how
// sure that is, the words that say so and the attacks that fit. Answers in the order of the question.

import { getAssessment } from '@sluice/catalogue/pages/assessment-cache'
import type { ToolDefinition } from '@sluice/policy/calls/tools'
import { defineCommand } from '../terminal/define-command.ts'
import { printable } from '../terminal/output.ts'
import { readDefinitions } from '../terminal/read-tools.ts'

const EXAMPLES = `
Examples:
  sluice classify --json < tools.json
  sluice classify --tools tools.json             # one line per tool
  sluice classify --json < tools.json | jq '.[] | select(.category == "Destructive") | .name'

A tools file is a JSON array of tool definitions, each with "server".`

export const add = defineCommand({
  name: 'classify',
  args: { '[file]': 'the same as --tools' },
  options: { '--tools <file>': ['the definitions; `-` is standard input', '-'] },
  examples: EXAMPLES,
  run: ({ file, ...options }, output) => {
    const answers = readDefinitions(file ?? options.tools).map(classified)
    output.value(answers)
    for (const one of answers) output.line(formatAssessment(one))
  },
})

/** A line for `sluice scan --evidence`. */
export function formatEvidence(definition: ToolDefinition): string {
  return formatAssessment(classified(definition))
}

function classified(definition: ToolDefinition) {
  const { riskBecause, attacks, ...assessment } = getAssessment(definition)
  return {
    server: definition.server,
    name: definition.name,
    ...assessment,
    riskBecause,
    attacks,
  }
}

function formatAssessment(one: ReturnType<typeof classified>): string {
  const { server, name, category, risk, unknown, confidence, evidence } = one
  const words = evidence
    .map(({ text }) => text)
    .filter((text) => text !== '')
    .slice(0, 3)
  const sure = `${Math.round(confidence * 100)} %`
  const label = unknown ? `unknown      perhaps ${category}` : `${category.padEnd(12)} ${risk}`
  return `${label.padEnd(31)} ${sure.padStart(5)}  ${printable(`${server}/${name}`)}${words.length > 0 ? `  (${printable(words.join(', '))})` : ''}`
}
