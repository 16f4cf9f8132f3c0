// What the tests of both formats share: one import, looked at as text or as its problems.

import { compile } from '@sluice/policy/compile/compile'
import { expect } from 'vitest'
import { importPolicy } from './import-policy.ts'

export const options = { file: 'theirs.yaml', server: 'shop' }

/** The document below `default: deny`. */
export function rulesOf(text: string): string {
  const { yaml, errors } = importPolicy(text, options)
  expect(errors).toEqual([])
  const { problems } = compile({ file: 'ours.yaml', text: yaml })
  expect(problems.filter((problem) => problem.severity === 'error')).toEqual([])
  return yaml.slice(yaml.indexOf('default: deny\n') + 'default: deny\n'.length)
}

export function listProblems(text: string, kind: 'warnings' | 'errors'): string[] {
  return importPolicy(text, options)[kind].map(
    ({ line, column, code }) => `${line}:${column} ${code}`,
  )
}
