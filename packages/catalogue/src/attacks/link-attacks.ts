// Which attacks of the library fit a tool: those for its class whose signal it shows itself (a path:
// traversal; a URL: forgery; text from strangers: injection), not all. Pure; called by the commands
// and the tool page.

import { inspectDefinition } from '@sluice/guard/inspect-definition'
import type { Category, ToolDefinition } from '@sluice/policy/calls/tools'
import { alternatives, group, sequence } from '@sluice/policy/readers/join-patterns'
import { toWords } from '@sluice/policy/structures/word-set'
import { isObject } from '@sluice/policy/values/json'
import { CLASS_TEXTS } from '../classify/class-texts.ts'
import type { ToolAssessment } from '../classify/classify.ts'
import { argumentsOf } from '../classify/flows.ts'
import type { Attack } from './attack.ts'
import { type AttackIndicator, lookFor } from './attack-indicators.ts'
import { ATTACK_LIST } from './attack-list.ts'

/**
 * The library of attacks through tools.
 *
 * @example
 * ```ts
 * console.log(ATTACKS.filter(({ gate }) => gate === 'no').map(({ name }) => name))
 * ```
 */
export const ATTACKS: readonly Attack[] = ATTACK_LIST

/**
 * An attack that a tool can be used for.
 *
 * @example
 * ```ts
 * const [first]: LinkedAttack[] = linkAttacks(definition, assessTool(definition))
 * ```
 */
export interface LinkedAttack {
  readonly id: string
  readonly name: string
  /** The argument that makes it a target, where one does. */
  readonly argument?: string
  /** What the attacker can do with this very tool. */
  readonly what: string
  readonly gate: Attack['gate']
}

/**
 * The attacks that a tool can be used for. `neighbours` are the other tools that the same caller sees,
 * if they are known.
 *
 * @example
 * ```ts
 * linkAttacks(definition, assessTool(definition)).map(({ id }) => id)
 * ```
 */
export function linkAttacks(
  definition: ToolDefinition,
  account: ToolAssessment,
  neighbours: readonly ToolDefinition[] = [],
): LinkedAttack[] {
  const names = argumentsOf(definition)
  const { findings } = inspectDefinition(definition)
  const target = { definition, account, neighbours, names, findings }
  return ATTACKS.flatMap((attack) => {
    if (!attack.access.includes(account.category)) return []
    const shown = lookFor(attack.signal, target)
    if (shown === undefined) return []
    const { id, name, gate } = attack
    const by = shown === '' ? '' : `, by \`${shown}\``
    const what =
      attack.signal === 'its class' ? describeHarm(account, definition) : `${attack.what}${by}`
    return [{ id, name, ...(shown === '' ? {} : { argument: shown }), what, gate }]
  })
}

/** What an attacker who steers the agent can do with this tool, in terms of its arguments. */
function describeHarm({ category, flows }: ToolAssessment, definition: ToolDefinition): string {
  const names = steeredArguments(category, definition).map((name) => `\`${name}\``)
  const last = names.pop()
  const joined = names.length === 0 ? last : `${names.join(', ')} and ${last}`
  const isMessage = category === 'Write' && flows.sends === 'outside'
  const { lets: bare, letsChoose: limited } = isMessage ? MESSAGE : CLASS_TEXTS[category]
  return joined === undefined ? bare : limited.replace('…', joined)
}

/** The arguments that matter most to an attacker: those that name the target of the class, else the required ones. */
export function steeredArguments(category: Category, definition: ToolDefinition): string[] {
  const { inputSchema } = definition
  const list = isObject(inputSchema) ? inputSchema.required : undefined
  const required = new Set(Array.isArray(list) ? list : [])
  const names = argumentsOf(definition).filter((name) => !PAGING.test(name))
  const targets = names.filter((name) => TARGETS[category]?.test(name))
  return (targets.length > 0 ? targets : names)
    .sort((a, b) => Number(required.has(b)) - Number(required.has(a)))
    .slice(0, ARGUMENTS_SHOWN_MAX)
}

const ARGUMENTS_SHOWN_MAX = 3
const PAGING =
  /^(?:page|limit|offset|cursor|per_?page|page_?size|page_?token|verbose|fields|format)$/i
const TARGETS: Partial<Record<Category, RegExp>> = {
  Execute:
    /^(?:commands?|cmd|args|scripts?|code|sql|query|statement|expression|program|prompt|input|task|function|url)$/i,
  Destructive:
    /(?:^|[_-])(?:ids?|names?|paths?|keys?|urls?|query|filter|all|force|recursive)$|(?:ID|Ids?|Names?|Paths?|Keys?)$/,
  Financial: new RegExp(
    alternatives([
      sequence(
        /(?:^|_)/,
        group(
          toWords(`
            amount amt sz size quantity price total value to recipient payee destination side symbol
          `),
        ),
        /$/,
      ),
      /Amount$/,
      /Amt$/,
      /Price$/,
      /^to_?address$/,
      /^items$/,
    ]),
    'i',
  ),
}
/** What such a tool lets an attacker do, without arguments to choose and with: it sends something. */
const MESSAGE = {
  lets: 'an attacker who steers the agent has it sent in the name of the user, as often as they like',
  letsChoose: 'an attacker who steers the agent chooses …, and it goes out in the name of the user',
}

/**
 * The rule against an attack for one tool, as a whole policy document.
 *
 * @example
 * ```ts
 * const yaml = ruleAgainst(attack, 'files/read_file', 'path')
 * ```
 */
export function ruleAgainst(
  attack: Attack,
  tool: string,
  argument = EXAMPLES[attack.signal] ?? 'value',
): string {
  return attack.rule
    .replaceAll('{tool}', tool)
    .replaceAll('args.{arg}', argumentExpression(argument))
}

/** An argument as rules name it. */
export function argumentExpression(name: string): string {
  return /^[A-Za-z_]\w*$/.test(name) ? `args.${name}` : `args[${JSON.stringify(name)}]`
}

/** Arguments as such tools have them, where none is at hand. */
const EXAMPLES: Partial<Record<AttackIndicator, string>> = {
  'takes a path': 'path',
  'takes a url': 'url',
  'takes sql': 'sql',
  'takes a command': 'command',
  'takes an option': 'branch',
  'takes an amount': 'amount',
  'takes a pattern': 'pattern',
}
