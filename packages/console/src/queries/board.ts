// A policy as a table: for each known tool its decision, and the limits that hold for it. What a plain call would get, by the engine itself. Pure.

import { type Action, pickStronger } from '@sluice/policy/calls/actions'
import { CATEGORIES, type KnownTool } from '@sluice/policy/calls/tools'
import { getTypicalAction } from '@sluice/policy/cases/typical-action'
import { getRulesForTool } from '@sluice/policy/decide/resolve'
import { type ApplicableRules, listPreparedRules } from '@sluice/policy/model/applicable-rules'
import type { CompiledPolicy } from '@sluice/policy/model/policy'
import { countEach } from '@sluice/policy/structures/count-each'

/** A tool's place on the board. */
export interface BoardTool {
  readonly server: string
  readonly name: string
  readonly category: Category
  /** The category is a guess, and so is the risk. */
  readonly unknown: boolean
  readonly risk: KnownTool['risk']
  /** What a plain call gets. */
  readonly verdict: Action | 'depends'
  /** Where the tool stands: the verdict, or what it would be if its conditions hold. */
  readonly column: Action
  readonly limits: readonly string[]
  /** The condition of its rule: `args.amount <= 50, else require_approval`; empty if it has none. */
  readonly condition: string
  /** Guardrails that may tighten the verdict, by name. */
  readonly guardrails: readonly string[]
}

/** A row of the board for a category of tools. */
export interface BoardCategory {
  readonly name: Category
  readonly action: Action | 'default'
  /** How many known tools it has. */
  readonly tools: number
}

/** A policy as a board. */
export interface Board {
  /** What becomes of a tool that no rule names. */
  readonly fallback: Action
  readonly categories: readonly BoardCategory[]
  readonly tools: readonly BoardTool[]
}

type Category = (typeof CATEGORIES)[number]

export function boardOf(policy: CompiledPolicy, tools: readonly KnownTool[]): Board {
  const placed = tools.map((tool) => toBoardTool(policy, tool))
  const counts = countEach(placed.map(({ category }) => category))
  return {
    fallback: policy.fallback,
    categories: CATEGORIES.map((name) => categoryOf(policy, name, counts.get(name) ?? 0)),
    tools: placed,
  }
}

function toBoardTool(policy: CompiledPolicy, tool: KnownTool): BoardTool {
  const { server, name } = tool.definition
  const scope = getRulesForTool(policy, tool)
  const verdict = getTypicalAction(policy, tool)
  const applicable = listPreparedRules(scope)
  return {
    server,
    name,
    category: scope.category,
    unknown: tool.unknown === true && !scope.classified,
    risk: tool.risk,
    verdict,
    column: verdict === 'depends' ? hopedOf(scope) : verdict,
    limits: applicable.flatMap((one) => one.rule.limits.map(({ text }) => text)),
    condition: conditionOf(scope),
    guardrails: [...scope.guardrails, ...scope.base]
      .filter((one) => one.rule.action !== undefined)
      .map((one) => one.rule.name),
  }
}

/** What the call gets where its conditions hold. */
function hopedOf({ rules, doubted }: ApplicableRules): Action {
  return [...rules, ...(doubted?.rules ?? [])].reduce(
    (word: Action, { rule }) => pickStronger(word, rule.action),
    'allow',
  )
}

function conditionOf({ rules }: ApplicableRules): string {
  return rules
    .flatMap(({ rule: { when, otherwise } }) =>
      when === undefined ? [] : [`${when.expression.text}, else ${otherwise}`],
    )
    .join('; ')
}

function categoryOf(policy: CompiledPolicy, name: Category, tools: number): BoardCategory {
  const rule = policy.categories.get(name)
  const action: Action | 'default' = rule === undefined ? 'default' : rule.action
  return { name, action, tools }
}
