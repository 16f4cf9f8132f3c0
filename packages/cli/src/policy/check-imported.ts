// `sluice policy check` of a PolicyLayer document: what its import says, compiled and counted like a policy
// of this make. The server is the one that is meant: `--server`, or the only one that is known.

import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { importPolicy } from '@sluice/import-policylayer/import-policy'
import type { KnownTool } from '@sluice/policy/calls/tools'
import { compile } from '@sluice/policy/compile/compile'
import { errorsIn } from '@sluice/policy/document/problem'
import { ArgumentError } from '../terminal/errors.ts'
import { type Output, plural, printable } from '../terminal/output.ts'
import { readText } from '../terminal/read-input.ts'
import { countDecisions, summarizeDecisions } from './count-decisions.ts'

export interface ForeignPolicy {
  readonly file: string
  readonly text: string
  readonly server: string | undefined
  readonly tools: readonly KnownTool[] | undefined
}

export async function checkImported(foreign: ForeignPolicy, output: Output): Promise<0 | 1> {
  const { file, text, tools } = foreign
  const server = foreign.server ?? (await findOnlyServer(foreign))
  const { yaml, warnings, errors } = importPolicy(text, { file, server })
  for (const problem of errors) output.problem({ ...problem, severity: 'error' }, text)
  for (const problem of warnings) output.problem({ ...problem, severity: 'warning' }, text)
  const source = { file: `${file} (imported)`, text: yaml }
  const { policy, problems } =
    errors.length > 0 ? { problems: [] } : compile(source, tools === undefined ? {} : { tools })
  for (const problem of problems) output.problem(problem, yaml)
  const decisions = policy && tools ? countDecisions(policy, tools) : undefined
  const isRight = policy !== undefined
  const wrong = errors.length + errorsIn(problems).length
  output.value({
    ok: isRight,
    file,
    format: 'policylayer',
    server,
    errors: wrong,
    warnings: warnings.length + problems.length - (wrong - errors.length),
    problems: [...errors, ...warnings, ...problems],
    ...(decisions === undefined ? {} : { tools: decisions }),
  })
  const about = `${printable(file)}, a PolicyLayer policy for the server \`${server}\``
  if (policy === undefined) {
    output.line(`${output.paint('red', 'not ok')}: ${about}, ${plural(wrong, 'error')}`)
    return 1
  }
  const counts = `${plural(policy.tools.size, 'rule')}, ${plural(policy.guardrails.length, 'guardrail')}`
  output.line(`${output.paint('green', 'ok')}: ${about}, ${counts}, default ${policy.fallback}`)
  if (decisions)
    output.line(`${plural(tools?.length ?? 0, 'tool')}: ${summarizeDecisions(decisions)}`)
  output.remark(
    `a gate reads it after \`sluice policy import ${printable(file)} --server ${server}\``,
  )
  return 0
}

/** Of the known tools, or of the configuration beside the policy. */
async function findOnlyServer({ file, tools }: ForeignPolicy): Promise<string> {
  const names = new Set(tools?.map(({ definition }) => definition.server) ?? (await listNear(file)))
  const [only] = names
  if (only !== undefined && names.size === 1) return only
  const known = names.size === 0 ? 'no server is known here' : `there are ${[...names].join(', ')}`
  throw new ArgumentError(
    `\`${file}\` is a PolicyLayer policy: its tools have no server in their names, and ${known}`,
    'pass --server with the name that the server has in sluice.yaml',
  )
}

async function listNear(policy: string): Promise<readonly string[]> {
  const file = join(dirname(policy), 'sluice.yaml')
  if (!existsSync(file)) return []
  const { readDataLocation } = await import('@sluice/gateway/config/data-location')
  return readDataLocation({ file, text: readText(file) }, process.env)?.servers ?? []
}
