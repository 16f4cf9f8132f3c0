// Problems of an expression for the tools it matches, in terms of its source text: the checker
// reports variables and the names that functions run under.

import { nearest } from '../../document/nearest.ts'
import { pathText } from '../../language/argument-path.ts'
import type { PolicyErrorCode } from '../../language/errors.ts'
import { FUNCTIONS, METHODS } from '../cel-functions.ts'
import { type BoundVariable, getVariableType } from './bound-variable.ts'
import { type DeclaredType, findDeclared } from './declared-types.ts'

export interface BindProblem {
  readonly code: PolicyErrorCode
  /** Offset into the expression. */
  readonly at: number
  readonly message: string
  readonly help: string
}

/** An argument that none of these tools declares. */
export function toUndeclaredProblem(
  path: readonly string[],
  at: number,
  schemas: readonly DeclaredType[],
): BindProblem {
  const who =
    schemas.length === 1
      ? 'the tool declares no'
      : `none of the ${schemas.length} tools it meets declares`
  const depth = path.findIndex((_, index) =>
    schemas.every((schema) => findDeclared(schema, path.slice(0, index + 1)) === undefined),
  )
  const above = path.slice(0, depth)
  const known = new Set(
    schemas.flatMap((schema) => [...(findDeclared(schema, above)?.properties?.keys() ?? [])]),
  )
  const message = `${who} \`${pathText(path)}\``
  return {
    code: 'POLICY_UNKNOWN_ARGUMENT',
    at,
    message,
    help: declaredHelp(path[depth] as string, above, [...known]),
  }
}

function declaredHelp(name: string, above: readonly string[], known: readonly string[]): string {
  const near = nearest(name, known)
  if (near !== undefined) return `did you mean \`${pathText([...above, near])}\`?`
  if (known.length === 0) return 'no arguments are declared there'
  return `declared are ${known.map((one) => `\`${pathText([...above, one])}\``).join(', ')}`
}

export function typeProblem(
  at: number,
  message: string,
  variables: readonly BoundVariable[],
): BindProblem {
  const read = variables.filter((variable) => variable.root === 'args' && !variable.presence)
  const types = read
    .map((variable) => `\`${pathText(variable.path)}\` is ${getVariableType(variable)}`)
    .join(', ')
  const mixed = /\bint\b/.test(message) && /\bdouble\b/.test(message)
  const help = mixed
    ? 'int and double do not mix: write `double(…)` around the int'
    : 'give it the types it takes'
  return {
    code: 'POLICY_EXPRESSION_TYPE',
    at,
    message,
    help: types === '' ? help : `${help}; ${types}`,
  }
}

/** Translates the checker's variables and internal function names to those of the source text. */
export function nameVariables(message: string, variables: readonly BoundVariable[]): string {
  return message
    .replace(/^(no such overload: |found no matching overload for )'?(.*?)'?$/, 'there is no `$2`')
    .replace(/^no such key: (.*)$/, 'there is no `$1`')
    .replace(/\bs(\d+)\b/g, (whole, index) => {
      const variable = variables[Number(index)]
      return variable === undefined ? whole : [variable.root, ...variable.path].join('.')
    })
    .replace(/\bsluice[A-Z]\w*/g, (runs) => WRITTEN.get(runs) ?? runs)
}

const WRITTEN = new Map([...FUNCTIONS, ...METHODS].map(([name, { runs }]) => [runs, name]))
