// Compiles a policy that the command line names. Apart from read-input.ts, so that commands that only read files
// do not load the compiler and the CEL engine.

import { type CompileOptions, compile } from '@sluice/policy/compile/compile'
import { errorsIn, type Problem } from '@sluice/policy/document/problem'
import type { CompiledPolicy } from '@sluice/policy/model/policy'
import { CliError } from './errors.ts'
import { type Output, plural } from './output.ts'
import { readText } from './read-input.ts'

/** The base policy as an option of `compile`, if there is one. */
export function loadBasePolicy(
  file: string | undefined,
  output: Output,
): { readonly base?: CompiledPolicy } {
  return file === undefined ? {} : { base: loadPolicy(file, { name: 'house' }, output).policy }
}

/** Compiles, prints problems, and continues only without errors. */
export function loadPolicy(
  file: string,
  options: CompileOptions,
  output: Output,
  text = readText(file),
): { policy: CompiledPolicy; problems: readonly Problem[]; text: string } {
  const { policy, problems } = compile({ file, text }, options)
  if (policy !== undefined) return { policy, problems, text }
  for (const problem of problems) output.problem(problem, text)
  const count = errorsIn(problems).length
  const help = `fix them; \`sluice policy check ${file}\` shows them again`
  throw new CliError('CLI_POLICY', `\`${file}\` has ${plural(count, 'error')}`, help, problems)
}
