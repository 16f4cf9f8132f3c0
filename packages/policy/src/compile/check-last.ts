// Checks `last(...)` against the known tools: an argument or a field that the tool does not have, a tool that
// nobody may call, and a maximum for each id that another spelling of the id would double.

import type { Action } from '../calls/actions.ts'
import type { KnownTool } from '../calls/tools.ts'
import { getRulesForTool } from '../decide/resolve.ts'
import { nearest } from '../document/nearest.ts'
import type { Problems, Severity } from '../document/problem.ts'
import {
  type DeclaredType,
  findDeclared,
  readDeclaredArguments,
} from '../expression/evaluate/declared-types.ts'
import type { LastRead } from '../expression/read-last.ts'
import { type CompiledPolicy, listRules } from '../model/policy.ts'
import type { Guardrail, Rule } from '../model/rule.ts'
import { isObject } from '../values/json.ts'

interface LocatedRead {
  readonly read: LastRead
  /** Offset into the document. */
  readonly at: number
}

interface LastCheckOptions {
  readonly tools: readonly KnownTool[]
  readonly severity: Severity
  readonly problems: Problems
}

export function checkLastReads(
  policy: CompiledPolicy,
  { tools, severity, problems }: LastCheckOptions,
): void {
  const byName = new Map(
    tools.map((tool) => [`${tool.definition.server}/${tool.definition.name}`, tool]),
  )
  for (const rule of listRules(policy)) {
    for (const { read, at } of listReads(rule)) {
      const tool = byName.get(read.tool)
      const objection = tool && objectToRead(policy, read, tool)
      if (objection !== undefined)
        problems.add(severity, 'POLICY_UNKNOWN_ARGUMENT', { offset: at, ...objection })
    }
    warnOfSpellings(rule, problems)
  }
}

function listReads({ when, limits }: Rule | Guardrail): LocatedRead[] {
  const ofCondition = (when?.expression.variables ?? []).flatMap(({ last, at }) =>
    last === undefined ? [] : { read: last, at: when?.placeOf(at) ?? at },
  )
  return [...ofCondition, ...limits.flatMap(({ maxOf }) => maxOf ?? [])]
}

interface Objection {
  readonly message: string
  readonly help: string
}

function objectToRead(
  policy: CompiledPolicy,
  { tool: name, by, field }: LastRead,
  tool: KnownTool,
): Objection | undefined {
  const { inputSchema, outputSchema } = tool.definition
  const input = readDeclaredArguments(inputSchema)
  const unknown = by.find((argument) => findDeclared(input, [argument]) === undefined)
  if (unknown !== undefined)
    return {
      message: `\`${name}\` declares no argument \`${unknown}\``,
      help: nameOne(unknown, input),
    }
  const missing = listRequired(inputSchema).find((argument) => !by.includes(argument))
  if (missing !== undefined)
    return {
      message: `no call of \`${name}\` has only these arguments: it requires \`${missing}\``,
      help: `name it in \`last\` too, with its value`,
    }
  if (isObject(outputSchema)) {
    const output = readDeclaredArguments(outputSchema)
    const depth = field.findIndex(
      (_, index) => findDeclared(output, field.slice(0, index + 1)) === undefined,
    )
    const above = findDeclared(output, field.slice(0, depth))
    if (depth >= 0 && above !== undefined)
      return {
        message: `the answers of \`${name}\` have no \`${field.slice(0, depth + 1).join('.')}\``,
        help: nameOne(field[depth] as string, above),
      }
  }
  if (!isOnlyRefused(policy, tool)) return undefined
  return {
    message: `the policy lets nobody call \`${name}\`, so that no answer of it is known`,
    help: 'allow it, or take the condition away: the reason of a denial would name the tool',
  }
}

function nameOne(name: string, { properties }: DeclaredType): string {
  const known = [...(properties?.keys() ?? [])]
  const near = nearest(name, known)
  if (near !== undefined) return `did you mean \`${near}\`?`
  return known.length === 0
    ? 'it declares none'
    : `it has ${known.map((one) => `\`${one}\``).join(', ')}`
}

function listRequired(schema: KnownTool['definition']['inputSchema']): string[] {
  const required = isObject(schema) ? schema.required : undefined
  return Array.isArray(required) ? required.filter((name) => typeof name === 'string') : []
}

function isOnlyRefused(policy: CompiledPolicy, tool: KnownTool): boolean {
  const { rules } = getRulesForTool(policy, tool)
  if (rules.length === 0) return isRefusal(policy.fallback)
  return rules.some(
    ({ rule: { action, otherwise, when } }) =>
      isRefusal(action) && (when === undefined || isRefusal(otherwise)),
  )
}

function isRefusal(action: Action): boolean {
  return action === 'deny' || action === 'hide'
}

/** A server that takes `a-1` for `A-1` answers for both, and each spelling has a counter of its own. */
function warnOfSpellings({ when, limits }: Rule | Guardrail, problems: Problems): void {
  const compared = (when?.expression.variables ?? []).flatMap(({ last = [] }) => last)
  for (const { maxOf, per } of limits) {
    const part = per.find(({ by }) => by === 'args')
    if (maxOf === undefined || part === undefined) continue
    if (compared.some(({ tool }) => tool === maxOf.read.tool)) continue
    const { tool, text } = maxOf.read
    const start = text.slice(0, text.indexOf(')') + 1)
    problems.warn(
      'POLICY_UNMATCHED',
      maxOf.at,
      `another spelling of the same id has a counter of its own, if \`${tool}\` answers for both`,
      `compare the id in the answer: \`when: ${start}.id == …\``,
    )
  }
}
