// Parses one guardrail from the validated tree to the engine's representation, and checks that the
// parts of its `match` are consistent.

import type { Action } from '../calls/actions.ts'
import { asMap, checkName } from '../document/check-shape.ts'
import { items, scalar, strings } from '../document/fields.ts'
import type { Problems } from '../document/problem.ts'
import { findEntry, type LocatedMap, type LocatedNode } from '../document/read-document.ts'
import { parseGlob } from '../language/glob.ts'
import { CONTENT_METHODS, TOOL_CALL } from '../language/methods.ts'
import type { Guardrail } from '../model/rule.ts'
import { pickDefined } from '../structures/pick-defined.ts'
import { escapePointer } from '../values/json-pointer.ts'
import { hideByArgs, noEffect } from './no-effect.ts'
import { parseCommon, type RuleContext } from './parse-rule-fields.ts'

export function parseGuardrail(node: LocatedNode, index: number, context: RuleContext): Guardrail {
  const map = asMap(node)
  const name = scalar(map, 'name') as string
  const action = scalar(map, 'action') as Action | undefined
  const id = `${context.document}/guardrails/${escapePointer(name)}`
  const words: Action[] = action === undefined ? ['allow'] : [action]
  const common = parseCommon(map, map.at, { pointer: `/guardrails/${index}`, words, id, context })
  const { problems } = context
  if (action === undefined && common.limits.length === 0)
    problems.error(
      'POLICY_NO_EFFECT',
      (findEntry(map, 'name') ?? map).at,
      `\`${name}\` has neither \`action\` nor a limit`,
      'give it one of them',
    )
  if (action === 'hide' && common.when?.expression.dependsOnCall) hideByArgs(map, problems)
  const match = asMap(findEntry(map, 'match'))
  checkMatch(match, problems)
  const wordsOf = (field: string) => {
    const list = findEntry(match, field)
    return list === undefined ? undefined : strings(list)
  }
  return {
    ...common,
    name,
    ...(action === undefined ? {} : { action }),
    match: pickDefined({
      categories: wordsOf('categories'),
      tools: wordsOf('tools')?.map(parseGlob),
      servers: wordsOf('servers'),
      methods: wordsOf('methods'),
    }),
  }
}

/** Reports invalid names, and parts that exclude each other. */
function checkMatch(match: LocatedMap, problems: Problems): void {
  for (const tool of items(findEntry(match, 'tools')))
    checkName(String(tool.value), 'tool', tool.at, problems)
  for (const server of items(findEntry(match, 'servers')))
    if (String(server.value).includes('/'))
      problems.error(
        'DOCUMENT_BAD_NAME',
        server.at,
        `\`${server.value}\` is not the name of a server`,
        'name tools under `tools`, and servers without a `/`',
      )
  const methods = strings(findEntry(match, 'methods'))
  if (methods.length === 0 || methods.includes(TOOL_CALL)) return
  if (findEntry(match, 'tools') !== undefined)
    noEffect(match, 'methods', {
      message: '`methods` without `tools/call` never matches together with `tools`',
      help: 'add `tools/call`, or take one of them away',
      problems,
    })
  const categories = strings(findEntry(match, 'categories'))
  if (
    categories.length > 0 &&
    !methods.some((method) => categories.includes(CONTENT_METHODS.get(method) ?? ''))
  )
    noEffect(match, 'categories', {
      message: '`categories` has none of the categories of these `methods`',
      help: `they count as ${[...new Set(methods.map((method) => `\`${CONTENT_METHODS.get(method)}\``))].join(', ')}`,
      problems,
    })
}
