// What of a tool makes it a target of an attack, by the names that the library of attacks has for it: an argument,
// its name, what was found in its definition, its class. Pure; called by link-attacks.ts.

import type { Inspection } from '@sluice/guard/inspect-definition'
import type { Category, ToolDefinition } from '@sluice/policy/calls/tools'
import { group, sequence } from '@sluice/policy/readers/join-patterns'
import { toWords } from '@sluice/policy/structures/word-set'
import type { ToolAssessment } from '../classify/classify.ts'
import { argumentsOf } from '../classify/flows.ts'
import { readsSecrets } from '../classify/risk.ts'
import { looksAlike } from './look-alike.ts'

/** A tool, and what is known of it. */
export interface AttackTarget {
  readonly definition: ToolDefinition
  readonly account: ToolAssessment
  readonly neighbours: readonly ToolDefinition[]
  /** The names of its arguments. */
  readonly names: readonly string[]
  readonly findings: Inspection['findings']
}

/** The argument that shows it, '' if it shows elsewhere, undefined if it does not show. */
type Indicator = (target: AttackTarget) => string | undefined

const when =
  (holds: (target: AttackTarget) => boolean): Indicator =>
  (target) =>
    holds(target) ? '' : undefined
const takes =
  (pattern: RegExp): Indicator =>
  ({ names }) =>
    names.find((name) => pattern.test(name))
const called = (pattern: RegExp) => when(({ definition }) => pattern.test(definition.name))
const found = (...kinds: readonly string[]) =>
  when(({ findings }) => findings.some(({ kind }) => kinds.includes(kind)))

/** Names of tools that hand over a whole state, and of those that list what is planned. */
export const EXPORTS_STATE = /(?:^|_)(?:export|backup|dump|snapshot)(?:_|$)/i
export const LISTS_TASKS = /(?:^|_)(?:todos|tasks|plan)(?:_|$)/i
/** Tools to which the attack of their class does not fit: a copy plants nothing, and a yes or a number is no content. */
const BESIDE_CLASS: Partial<Record<Category, RegExp>> = {
  Write: EXPORTS_STATE,
  Read: /(?:^|_)is_|(?:^|_)turn_count$/i,
}
const SHELL_ARGUMENT = /^(?:commands?|cmd|shell|args|cli_?args)$/i
const MANY = /^(?:all|ids|items|inputs|orders|requests|\w+_?ids|\w+Ids|recursive|force|filter)$/i
const COSTS =
  /generat|train|scrap|crawl|\bllm|\bgpu|render|transcod|\bmodel|batch|bulk|deploy|provision|cluster|billable|credits/i

const INDICATORS = {
  'takes a path': takes(
    new RegExp(
      sequence(
        /^/,
        group(
          toWords(String.raw`
            path paths file files file_?path file_?paths filename directory dir folder source
            destination \w*_?path \w*Path project_?root cwd
          `),
        ),
        /$/,
      ),
      'i',
    ),
  ),
  'takes a url': takes(/^(?:url|urls|uri|link|href|endpoint|website|\w+_?url|\w+Url)$/i),
  'takes a command': takes(/^(?:command|cmd|commands|shell|script|args|cli_?args)$/i),
  'takes an option': takes(
    /^(?:branch|ref|revision|commit|tag|target|remote|package|image|host|hostname)$/i,
  ),
  'takes an amount': takes(/(?:^|_)(?:amount|amt|sz|size|quantity|price|total|value)$|Amount$/i),
  'takes a pattern': takes(/^(?:pattern|regex|regexp|glob|name_?regex)$/i),
  // What a tool is about, by its name: attacks that fit it and not every tool of its class.
  'exports state': called(EXPORTS_STATE),
  'lists tasks': called(LISTS_TASKS),
  'tells a state': called(/(?:^|_)is_|(?:^|_)(?:status|state|progress|turn_count)$/i),
  'makes an agent': called(
    /agent_(?:create|spawn|fork|import|compose)|(?:create|spawn)_agent|gallery_create/i,
  ),
  'drives an agent': called(/agent_(?:prompt|tool|execute|resume|message)$|prompt_agent/i),
  'ends an agent': called(
    /agent_(?:terminate|reset|stop|kill|delete|remove)|(?:terminate|stop)_agent/i,
  ),
  'changes a template': called(
    /(?:gallery|templates?)_(?:add|import|configure|activate|remove|update|set)/i,
  ),
  'lists templates': called(
    /(?:gallery|templates?)_(?:list|search|categories|active|config|load|get)(?:_|$)/i,
  ),
  'shows an agent': called(
    /agent_(?:list|tools|files|state|history|todos|turn_count|info)$|list_agents/i,
  ),
  'its class': when(
    ({ definition, account }) => !BESIDE_CLASS[account.category]?.test(definition.name),
  ),
  'takes sql': ({ account }) => account.depends.find(({ kind }) => kind === 'sql')?.argument,
  'takes many': (target) =>
    takes(MANY)(target) ?? (target.account.category === 'Destructive' ? '' : undefined),
  'reads strangers': when(({ account }) => account.flows.reads.includes('untrusted')),
  'reads private': when(
    ({ account, definition }) => account.flows.reads.includes('private') && isShared(definition),
  ),
  'reads secrets': when(({ definition }) => readsSecrets(definition)),
  'sends outside': when(({ account }) => account.flows.sends === 'outside'),
  // A shell is no sandbox that could be exhausted or escaped.
  'runs code': ({ account }) =>
    account.depends.find(
      ({ kind, argument }) => kind === 'program' && !SHELL_ARGUMENT.test(argument),
    )?.argument,
  'false hint': when(({ account }) =>
    account.disagreements.some((disagreement) => disagreement.includes('only reads')),
  ),
  'puts itself first': found('puts itself first'),
  'asks for context': found('asks for context'),
  'hidden text': found('hidden text'),
  /** Its definition was found to speak to the model. */
  poisoned: found(
    'instructs the model',
    'secret path',
    'hides from the user',
    'carries secrets out',
  ),
  /** A change behind its name would hurt. */
  'high stakes': when(({ account: { risk } }) => risk === 'high' || risk === 'critical'),
  'looks alike': when(({ definition, neighbours }) =>
    neighbours.some((other) => looksAlike(definition, other)),
  ),
  costs: when(({ definition }) => COSTS.test(`${definition.name} ${firstLine(definition)}`)),
  /** An attack on the gate or the transport, which no single tool shows. */
  none: () => undefined,
} satisfies Readonly<Record<string, Indicator>>

export type AttackIndicator = keyof typeof INDICATORS

export function lookFor(indicator: AttackIndicator, target: AttackTarget): string | undefined {
  return INDICATORS[indicator](target)
}

function firstLine({ description }: ToolDefinition): string {
  return typeof description === 'string' ? description.slice(0, FIRST_LINE_CHARS_MAX) : ''
}

const FIRST_LINE_CHARS_MAX = 120

/** Several people’s data behind one login. */
function isShared(definition: ToolDefinition): boolean {
  return argumentsOf(definition).some((name) =>
    /account|tenant|workspace|org|user|customer|team/i.test(name),
  )
}
