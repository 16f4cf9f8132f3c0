// Which attacks of the library fit a tool: those for its class whose signal it shows itself (a path:
// traversal; a URL: forgery; text from strangers: injection), not all. Pure; called by the commands
// and the tool page.

import { isObject } from '@sluice/policy/core/json'
import type { Category, ToolDefinition } from '@sluice/policy/core/tools'
import { inspectDefinition } from '../../guard/inspect-definition.ts'
import type { ToolAssessment } from '../classify/classify.ts'
import { argumentsOf } from '../classify/flows.ts'
import { readsSecrets } from '../classify/risk.ts'
import type { Attack, AttackIndicator } from './attack.ts'
import attacks from './attacks.json' with { type: 'json' }
import { looksAlike } from './look-alike.ts'

/**
 * The library of attacks through tools.
 *
 * @example
 * ```ts
 * console.log(ATTACKS.filter(({ gate }) => gate === 'no').map(({ name }) => name))
 * ```
 */
export const ATTACKS = attacks as readonly Attack[]

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

const BY_ARGUMENT: Partial<Record<AttackIndicator, RegExp>> = {
  'takes a path':
    /^(?:path|paths|file|files|file_?path|file_?paths|filename|directory|dir|folder|source|destination|\w*_?path|\w*Path|project_?root|cwd)$/i,
  'takes a url': /^(?:url|urls|uri|link|href|endpoint|website|\w+_?url|\w+Url)$/i,
  'takes a command': /^(?:command|cmd|commands|shell|script|args|cli_?args)$/i,
  'takes an option':
    /^(?:branch|ref|revision|commit|tag|target|remote|package|image|host|hostname)$/i,
  'takes an amount': /(?:^|_)(?:amount|amt|sz|size|quantity|price|total|value)$|Amount$/i,
  'takes a pattern': /^(?:pattern|regex|regexp|glob|name_?regex)$/i,
}
/** Names of tools that hand over a whole state, and of those that list what is planned. */
export const EXPORTS_STATE = /(?:^|_)(?:export|backup|dump|snapshot)(?:_|$)/i
export const LISTS_TASKS = /(?:^|_)(?:todos|tasks|plan)(?:_|$)/i

/** What a tool is about, by its name: attacks that fit it and not every tool of its class. */
const BY_NAME: Partial<Record<AttackIndicator, RegExp>> = {
  'exports state': EXPORTS_STATE,
  'lists tasks': LISTS_TASKS,
  'tells a state': /(?:^|_)is_|(?:^|_)(?:status|state|progress|turn_count)$/i,
  'makes an agent':
    /agent_(?:create|spawn|fork|import|compose)|(?:create|spawn)_agent|gallery_create/i,
  'drives an agent': /agent_(?:prompt|tool|execute|resume|message)$|prompt_agent/i,
  'ends an agent': /agent_(?:terminate|reset|stop|kill|delete|remove)|(?:terminate|stop)_agent/i,
  'changes a template':
    /(?:gallery|templates?)_(?:add|import|configure|activate|remove|update|set)/i,
  'lists templates':
    /(?:gallery|templates?)_(?:list|search|categories|active|config|load|get)(?:_|$)/i,
  'shows an agent': /agent_(?:list|tools|files|state|history|todos|turn_count|info)$|list_agents/i,
}
/** Tools to which the attack of their class does not fit: a copy plants nothing, and a yes or a number is no content. */
const BESIDE_CLASS: Partial<Record<Category, RegExp>> = {
  Write: EXPORTS_STATE,
  Read: /(?:^|_)is_|(?:^|_)turn_count$/i,
}
const SHELL_ARGUMENT = /^(?:commands?|cmd|shell|args|cli_?args)$/i
const MANY = /^(?:all|ids|items|inputs|orders|requests|\w+_?ids|\w+Ids|recursive|force|filter)$/i

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
  const look = lookerAt(definition, account, neighbours)
  return ATTACKS.flatMap((attack) => {
    if (!attack.access.includes(account.category)) return []
    const shown = look(attack.signal)
    if (shown === undefined) return []
    const { id, name, gate } = attack
    const by = shown === '' ? '' : `, by \`${shown}\``
    const what = attack.signal === 'its class' ? lets(account, definition) : `${attack.what}${by}`
    return [{ id, name, ...(shown === '' ? {} : { argument: shown }), what, gate }]
  })
}

/** What an attacker who steers the agent can do with this tool, in terms of its arguments. */
function lets({ category, flows }: ToolAssessment, definition: ToolDefinition): string {
  const names = steeredArguments(category, definition).map((name) => `\`${name}\``)
  const last = names.pop()
  const joined = names.length === 0 ? last : `${names.join(', ')} and ${last}`
  const isMessage = category === 'Write' && flows.sends === 'outside'
  const [bare, limited] = isMessage ? LETS_SEND : LETS[category]
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
  Financial:
    /(?:^|_)(?:amount|amt|sz|size|quantity|price|total|value|to|recipient|payee|destination|side|symbol)$|Amount$|Amt$|Price$|^to_?address$|^items$/i,
}
/** Without arguments to choose, and with. */
const LETS: Readonly<Record<Category, readonly [bare: string, given: string]>> = {
  Read: [
    'an attacker who steers the agent reads what it returns and passes it on through another tool',
    'an attacker who steers the agent chooses …, and passes what it returns on through another tool',
  ],
  Write: [
    'an attacker who steers the agent changes what others rely on, as often as they like',
    'an attacker who steers the agent chooses …, and others rely on what is written',
  ],
  Execute: [
    'an attacker who steers the agent starts it at will, with the rights of its server',
    'an attacker who steers the agent chooses …, and it runs with the rights of its server',
  ],
  Destructive: [
    'an attacker who steers the agent deletes or revokes what it acts on, for good',
    'an attacker who steers the agent chooses …, and what that selects is gone for good',
  ],
  Financial: [
    'an attacker who steers the agent commits money with it',
    'an attacker who steers the agent chooses …, and money is moved or committed accordingly',
  ],
}

const LETS_SEND: readonly [bare: string, given: string] = [
  'an attacker who steers the agent has it sent in the name of the user, as often as they like',
  'an attacker who steers the agent chooses …, and it goes out in the name of the user',
]

/** Tells of a signal: the argument that shows it, '' where it shows elsewhere, undefined if not. */
function lookerAt(
  definition: ToolDefinition,
  account: ToolAssessment,
  neighbours: readonly ToolDefinition[],
) {
  const names = argumentsOf(definition)
  const { findings } = inspectDefinition(definition as never)
  const hasFinding = (kind: string) => findings.some((finding) => finding.kind === kind)
  const says = (is: boolean): string | undefined => (is ? '' : undefined)
  return (signal: AttackIndicator): string | undefined => {
    const pattern = BY_ARGUMENT[signal]
    if (pattern !== undefined) return names.find((name) => pattern.test(name))
    const subject = BY_NAME[signal]
    if (subject !== undefined) return says(subject.test(definition.name))
    switch (signal) {
      case 'its class':
        return says(!BESIDE_CLASS[account.category]?.test(definition.name))
      case 'takes sql':
        return account.depends.find(({ kind }) => kind === 'sql')?.argument
      case 'takes many':
        return names.find((name) => MANY.test(name)) ?? says(account.category === 'Destructive')
      case 'reads strangers':
        return says(account.flows.reads.includes('untrusted'))
      case 'reads private':
        return says(account.flows.reads.includes('private') && isShared(definition))
      case 'reads secrets':
        return says(readsSecrets(definition))
      case 'sends outside':
        return says(account.flows.sends === 'outside')
      case 'runs code':
        // A shell is no sandbox that could be exhausted or escaped.
        return account.depends.find(
          ({ kind, argument }) => kind === 'program' && !SHELL_ARGUMENT.test(argument),
        )?.argument
      case 'false hint':
        return says(
          account.disagreements.some((disagreement) => disagreement.includes('only reads')),
        )
      case 'puts itself first':
      case 'asks for context':
        return says(hasFinding(signal))
      case 'poisoned':
        return says(findings.some(({ kind }) => POISON.has(kind)))
      case 'hidden text':
        return says(hasFinding(signal))
      case 'high stakes':
        return says(account.risk === 'high' || account.risk === 'critical')
      case 'looks alike':
        return says(neighbours.some((other) => looksAlike(definition, other)))
      case 'costs':
        return says(COSTS.test(`${definition.name} ${firstLine(definition)}`))
      default:
        return undefined
    }
  }
}

const POISON: ReadonlySet<string> = new Set([
  'instructs the model',
  'secret path',
  'hides from the user',
  'carries secrets out',
])
const COSTS =
  /generat|train|scrap|crawl|\bllm|\bgpu|render|transcod|\bmodel|batch|bulk|deploy|provision|cluster|billable|credits/i

function firstLine({ description }: ToolDefinition): string {
  return typeof description === 'string' ? description.slice(0, FIRST_LINE_CHARS_MAX) : ''
}

const FIRST_LINE_CHARS_MAX = 120

/** Several people’s data behind one login. */
function isShared({ inputSchema }: ToolDefinition): boolean {
  const properties = isObject(inputSchema) ? inputSchema.properties : undefined
  return (
    isObject(properties) &&
    Object.keys(properties).some((name) =>
      /account|tenant|workspace|org|user|customer|team/i.test(name),
    )
  )
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
  argument = exampleOf(attack.signal),
): string {
  return attack.rule
    .replaceAll('{tool}', tool)
    .replaceAll('args.{arg}', argumentExpression(argument))
}

/** An argument as rules name it. */
export function argumentExpression(name: string): string {
  return /^[A-Za-z_]\w*$/.test(name) ? `args.${name}` : `args[${JSON.stringify(name)}]`
}

/** An argument as such tools have it, where none is at hand. */
function exampleOf(signal: AttackIndicator): string {
  const examples: Partial<Record<AttackIndicator, string>> = {
    'takes a path': 'path',
    'takes a url': 'url',
    'takes sql': 'sql',
    'takes a command': 'command',
    'takes an option': 'branch',
    'takes an amount': 'amount',
    'takes a pattern': 'pattern',
  }
  return examples[signal] ?? 'value'
}
