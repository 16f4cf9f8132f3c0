// Parses one rule from the validated tree to the engine's representation, and checks its fields
// against each other: whatever would silently have no effect is an error.

import type { Action } from '../calls/actions.ts'
import type { Category } from '../calls/tools.ts'
import { asMap } from '../document/check-shape.ts'
import { scalar, strings } from '../document/fields.ts'
import type { Problems } from '../document/problem.ts'
import {
  findEntry,
  type LocatedMap,
  type LocatedNode,
  type LocatedScalar,
} from '../document/read-document.ts'
import { isGlob, parseGlob } from '../language/glob.ts'
import type { Rule } from '../model/rule.ts'
import { APPROVAL_DEFAULT } from '../model/rule.ts'
import { escapePointer } from '../values/json-pointer.ts'
import { hideByArgs, noEffect } from './no-effect.ts'
import { checkClientChannel } from './parse-approval.ts'
import { parseCommon, type RuleContext } from './parse-rule-fields.ts'

export type RuleSection = 'categories' | 'tools' | 'methods' | 'resources' | 'prompts'

export function parseRule(
  section: RuleSection,
  key: LocatedScalar,
  node: LocatedNode,
  context: RuleContext,
): Rule {
  const name = String(key.value)
  const pointer = `/${section}/${escapePointer(name)}`
  const named = section === 'tools' || section === 'resources' || section === 'prompts'
  const glob = named && isGlob(name) ? { glob: parseGlob(name) } : {}
  if (node.kind === 'scalar') {
    const action = node.value as Action
    return {
      ...plainRule(key.at, pointer),
      key: name,
      ...glob,
      action,
      otherwise: 'deny',
      over: new Set(),
    }
  }
  const map = asMap(node)
  const action = scalar(map, 'action') as Action
  const otherwise = (scalar(map, 'otherwise') as Action | undefined) ?? 'deny'
  const words = findEntry(map, 'when') === undefined ? [action] : [action, otherwise]
  const common = parseCommon(map, key.at, {
    pointer,
    words,
    id: `${context.document}${pointer}`,
    context,
  })
  const rule = { ...common, key: name, ...glob, action, otherwise, over: parseOver(map) }
  checkBranches(map, rule, context.problems)
  if (findEntry(map, 'over') !== undefined && !('glob' in glob)) {
    const help = named
      ? 'remove it: an exact name overrides the category anyway'
      : 'take it away: only a glob under `tools` lifts the rule of a category'
    noEffect(map, 'over', {
      message: '`over` is set on a name that is not a glob',
      help,
      problems: context.problems,
    })
  }
  if (section === 'categories' && (name === 'Destructive' || name === 'Financial'))
    checkClientChannel(map, `a ${name} call`, rule.approval, context.problems)
  return rule
}

function checkBranches(map: LocatedMap, rule: Rule, problems: Problems): void {
  const { when, action, otherwise } = rule
  if (findEntry(map, 'otherwise') !== undefined && findEntry(map, 'when') === undefined)
    noEffect(map, 'otherwise', {
      message: '`otherwise` needs `when`',
      help: 'add `when`, or take it away',
      problems,
    })
  if (when !== undefined && action === otherwise)
    noEffect(map, 'when', {
      message: `\`when\` decides nothing: both branches are \`${action}\``,
      help:
        findEntry(map, 'otherwise') === undefined
          ? `add an \`otherwise\`: without it, it is \`deny\``
          : 'write a different action in `otherwise`',
      problems,
    })
  if (when?.expression.dependsOnCall && (action === 'hide' || otherwise === 'hide'))
    hideByArgs(map, problems)
  const isShown = when !== undefined || action !== 'allow' || rule.limits.length > 0
  if (rule.reason !== '' && !isShown)
    noEffect(map, 'reason', {
      message: '`reason` is never shown',
      help: 'remove it: it is shown on a denial or when approval is required',
      problems,
    })
}

function parseOver(map: LocatedMap): Set<Category> {
  return new Set(strings(findEntry(map, 'over')) as Category[])
}

function plainRule(at: number, pointer: string) {
  return {
    pointer,
    at,
    reason: '',
    limits: [],
    approval: APPROVAL_DEFAULT,
    extraArgs: false,
    shadow: false,
  }
}
