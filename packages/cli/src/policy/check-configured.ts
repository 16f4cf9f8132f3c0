// `sluice policy check --config`: every policy that a configuration names, compiled as a gate does it:
// with the base policy over the others, and a policy that is written in the configuration itself.

import { errorsIn } from '@sluice/policy/document/problem'
import { pickDefined } from '@sluice/policy/structures/pick-defined'
import { compileConfigured, loadConfig } from '../connect/load-config.ts'
import { type Output, plural, printable } from '../terminal/output.ts'
import { readTools } from '../terminal/read-tools.ts'
import { printNotInForce } from './check.ts'
import { countDecisions, summarizeDecisions } from './count-decisions.ts'
import { explainNotInForce } from './policy-in-force.ts'

export async function checkConfigured(
  configFile: string,
  toolsFile: string | undefined,
  output: Output,
): Promise<0 | 1> {
  const config = loadConfig({ config: configFile }, output)
  const { compiled, problems } = compileConfigured(config, output)
  const tools = toolsFile === undefined ? undefined : await readTools(toolsFile)
  const errors = errorsIn(problems).length
  const documents = [...(compiled?.policies ?? [])].map(([name, policy]) => ({
    name,
    file: compiled?.documents.get(name)?.file ?? config.file,
    ...(tools === undefined ? {} : { tools: countDecisions(policy, tools) }),
  }))
  const notInForce = compiled && (await explainNotInForce(config))
  output.value({
    ok: compiled !== undefined,
    file: config.file,
    errors,
    warnings: problems.length - errors,
    problems,
    documents,
    ...pickDefined({ notInForce }),
  })
  for (const { name, file, tools: decisions } of documents) {
    const of = plural(tools?.length ?? 0, 'tool')
    const counted = decisions === undefined ? '' : `, ${of}: ${summarizeDecisions(decisions)}`
    output.line(`${output.paint('green', 'ok')}: ${name}, ${printable(file)}${counted}`)
  }
  printNotInForce(notInForce, output)
  if (compiled !== undefined) return 0
  const wrong = plural(errors, 'error')
  output.line(`${output.paint('red', 'not ok')}: ${printable(configFile)}, ${wrong}`)
  return 1
}
