// The page of one tool: what it does and takes, how agents use it, why that needs a policy, what an
// attacker can do with it, the policy to begin with and the ways to change it, and its neighbours.
// Pure; the words of the definition are the server's and are shown as such.

import { isObject } from '@sluice/policy/core/json'
import {
  CATEGORIES,
  type Category,
  type Risk,
  type ToolDefinition,
} from '@sluice/policy/core/tools'
import {
  createTextBlock,
  type Page,
  type PageBlock,
  type PageSection,
  yaml,
} from '../../core/pages/page.ts'
import { ATTACKS, type LinkedAttack } from '../attacks/link-attacks.ts'
import type { ToolAssessment } from '../classify/classify.ts'
import { splitNameWords } from '../signals/split-words.ts'
import { getAssessment } from './assessment-cache.ts'
import { countTools, summaryOf } from './server-page.ts'
import { suggestRule } from './suggest-policy.ts'
import { ADVICE, denialOf, LABELS, USED, WAYS } from './tool-advice.ts'

const MEANS: Readonly<Record<Category, string>> = {
  Read: 'It answers and changes nothing; what it answers stays with the agent.',
  Write: 'It makes or changes data.',
  Execute: 'It runs something or drives a live thing, with effects that depend on what is run.',
  Destructive: 'What was there is gone or revoked, and the tool itself gives no way back.',
  Financial: 'It moves, commits or prices money.',
}

/** What the strongest word says, where the class alone says less. */
const WRITES: readonly (readonly [says: RegExp, means: string])[] = [
  [/: keeping a copy/, 'It makes a copy, and the copy is no longer guarded by its source.'],
  [/: sending/, 'It sends something to somebody, which cannot be called back.'],
  [/: generating/, 'It makes something new; what was there stays.'],
  [/: settling/, 'It changes the state of something that others go by.'],
  [/: linking/, 'It links things, or gives somebody access.'],
]

function meansOf({ category, evidence }: ToolAssessment): string {
  // What is archived is put away, not copied.
  const archives = /^archiv/i.test(evidence[0]?.text ?? '')
  const says = archives ? ': settling' : (evidence[0]?.says ?? '')
  const own = category === 'Write' ? WRITES.find(([pattern]) => pattern.test(says)) : undefined
  return own?.[1] ?? MEANS[category]
}

/** The rule to begin with, by class and risk. */
const BEGIN: Readonly<Record<Category, readonly string[]>> = {
  Read: ['action: allow'],
  Write: ['action: allow', 'rate_limit: { max: 10, window: 60 }'],
  Execute: ['action: require_approval'],
  Destructive: ['action: require_approval', 'rate_limit: { max: 5, window: 60, per: principal }'],
  Financial: ['action: require_approval', 'rate_limit: { max: 5, window: 60, per: principal }'],
}

const DESCRIPTION_CHARS_MAX = 600
const EVIDENCE_SHOWN_MAX = 8
const PARAMETERS_SHOWN_MAX = 24
const NOTE_CHARS_MAX = 160
const RELATED_MAX = 8

/** Where a page stands: the other tools of the server, and the addresses of their pages. */
export interface ToolPageContext {
  readonly neighbours?: readonly ToolDefinition[]
  readonly pathOf?: (definition: ToolDefinition) => string
}

export function toolPage(definition: ToolDefinition, around: ToolPageContext = {}): Page {
  const assessment = getAssessment(definition)
  const id = `${definition.server}/${definition.name}`
  const { category } = assessment
  return {
    title: id,
    lead: leadOf(assessment),
    sections: [
      { heading: 'What it does', blocks: described(definition) },
      { heading: 'Parameters', blocks: parameters(definition) },
      {
        heading: 'How agents use it',
        blocks: [createTextBlock(`${ifGuessed(assessment)}${USED[category]}`)],
      },
      { heading: 'Why it needs a policy', blocks: why(assessment) },
      assessment.unknown
        ? { heading: 'Say what it is', blocks: settling(id, assessment) }
        : { heading: 'What it is not', blocks: whatNot(assessment) },
      {
        heading: 'What this access lets an attacker do',
        blocks: [attackTable(assessment.attacks)],
      },
      { heading: 'Advice', blocks: [{ kind: 'list', items: adviceOf(assessment) }] },
      { heading: 'A policy to begin with', blocks: recommended(id, assessment) },
      { heading: 'Four ways to rule it', blocks: ways(id) },
      { heading: 'What a denied agent receives', blocks: denied() },
      ...related(definition, assessment, around),
      { heading: 'Its server', blocks: server(definition, around) },
    ],
  }
}

/** Of a guess no risk is told. */
function leadOf(assessment: ToolAssessment): string {
  const { category, risk, unknown } = assessment
  if (!unknown) return `**${category}**, ${risk} risk. ${meansOf(assessment)}`
  const verdict =
    category === 'Execute'
      ? 'the verdict for Execute'
      : `the stricter of the verdicts for ${category} and for Execute`
  return `**Unknown**, perhaps ${category}: its definition does not say clearly what it does. A call gets ${verdict}.`
}

/** What follows is said of the class, and the class is a guess. */
function ifGuessed({ category, unknown }: ToolAssessment): string {
  return unknown ? `If it is ${category}: ` : ''
}

/** The line that ends the guess. */
function settling(id: string, { category }: ToolAssessment): PageBlock[] {
  return [
    createTextBlock(
      'Read what it does, then name its class in the policy; the gate asks no further:',
    ),
    yaml(['classify:', `  ${JSON.stringify(id)}: ${category}`, ''].join('\n')),
  ]
}

/** The labels in the advice are those of this tool; what is public needs none. */
function adviceOf({ category, flows }: ToolAssessment): string[] {
  const labels = flows.reads.filter((label) => label !== 'public').map((label) => `\`${label}\``)
  return ADVICE[category].flatMap((line) => {
    if (!line.includes(LABELS)) return [line]
    return labels.length === 0 ? [] : [line.replace(LABELS, labels.join(', '))]
  })
}

function described({ description, title }: ToolDefinition): PageBlock[] {
  const text = typeof description === 'string' ? description.trim() : ''
  const short =
    text.length > DESCRIPTION_CHARS_MAX ? `${text.slice(0, DESCRIPTION_CHARS_MAX)} …` : text
  return [
    createTextBlock(
      short === '' ? (title ?? 'Its server says nothing about it.') : `Its server says: “${short}”`,
    ),
  ]
}

function parameters({ inputSchema }: ToolDefinition): PageBlock[] {
  const properties = isObject(inputSchema) ? inputSchema.properties : undefined
  const names = isObject(properties) ? Object.keys(properties) : []
  if (!isObject(properties) || names.length === 0)
    return [createTextBlock('It takes no arguments.')]
  const list = isObject(inputSchema) ? inputSchema.required : undefined
  const required = new Set(Array.isArray(list) ? list : [])
  const rows = names.slice(0, PARAMETERS_SHOWN_MAX).map((name) => {
    const property = properties[name]
    const { type, enum: values, description } = isObject(property) ? property : {}
    const kind = Array.isArray(type) ? type.join(' or ') : String(type ?? 'any')
    const choices = Array.isArray(values) ? `: ${values.slice(0, 8).map(String).join(', ')}` : ''
    const text = typeof description === 'string' ? description : ''
    const short = text.length > NOTE_CHARS_MAX ? `${text.slice(0, NOTE_CHARS_MAX)} …` : text
    return [`\`${name}\``, `${kind}${choices}`, required.has(name) ? 'yes' : 'no', short]
  })
  const more = names.length - rows.length
  return [
    { kind: 'table', head: ['name', 'type', 'required', 'its server says'], rows },
    ...(more > 0 ? [createTextBlock(`And ${more} more.`)] : []),
  ]
}

function why(assessment: ToolAssessment): PageBlock[] {
  const { riskBecause, confidence, unknown, evidence, flows, depends, disagreements } = assessment
  const shown = evidence.filter(({ text }) => text !== '').slice(0, EVIDENCE_SHOWN_MAX)
  const blocks: PageBlock[] = [
    createTextBlock(
      `${ifGuessed(assessment)}${meansOf(assessment)}${unknown ? '' : ` Risk: ${riskBecause}.`} Confidence ${Math.round(confidence * 100)} %.`,
    ),
    createTextBlock(flowSentence(flows)),
  ]
  if (shown.length > 0)
    blocks.push({
      kind: 'table',
      head: ['words of the definition', 'where', 'what they say', 'weight'],
      rows: shown.map(({ text, at, says, weight }) => [`\`${text}\``, at, says, weight.toFixed(2)]),
    })
  for (const { argument, kind } of depends)
    blocks.push(
      createTextBlock(
        kind === 'program'
          ? `What a call does depends on \`${argument}\`, a program that no rule can read with certainty.`
          : `The class of a call depends on \`${argument}\` (${kind}); rules can ask for \`call.category\`.`,
      ),
    )
  for (const disagreement of disagreements) blocks.push(createTextBlock(`Beware: ${disagreement}.`))
  return blocks
}

function flowSentence({ reads, sends }: ToolAssessment['flows']): string {
  const out = {
    nothing: 'what it is given goes nowhere',
    inside: 'what it is given stays inside of its server',
    outside: 'what it is given may leave for elsewhere',
  }
  return `What it brings in is ${reads.join(' and ')}; ${out[sends]}.`
}

function whatNot({ whyNot }: ToolAssessment): PageBlock[] {
  return [{ kind: 'list', items: whyNot.map(({ because }) => `${because}.`) }]
}

function attackTable(linked: readonly LinkedAttack[]): PageBlock {
  // What this very tool lets somebody do comes first.
  const own = [...linked].sort((a, b) => Number(isOfClass(b)) - Number(isOfClass(a)))
  const rows = own.map(({ id, name, what, gate }) => [
    { text: `${id} ${name}`, to: `attacks#${id}` },
    what,
    gate,
  ])
  return { kind: 'table', head: ['attack', 'what it does here', 'a gate stops it'], rows }
}

function isOfClass({ id }: LinkedAttack): boolean {
  return ATTACKS.find((attack) => attack.id === id)?.signal === 'its class'
}

function ways(id: string): PageBlock[] {
  return [
    createTextBlock('In the place of its lines in the policy above:'),
    ...WAYS.flatMap(([name, says, rule]) => [
      createTextBlock(`**${name}**: ${says}.`),
      yaml([`${JSON.stringify(id)}:`, ...rule.map((line) => `  ${line}`), ''].join('\n')),
    ]),
  ]
}

function denied(): PageBlock[] {
  return [
    createTextBlock(
      'A result that says so, in words that a model can act on and as data; never an error of the protocol, which clients take for a fault.',
    ),
    { kind: 'code', language: 'json', text: denialOf('not for agents') },
  ]
}

/** The tools that an agent holds beside this one, those nearest by name first. */
function related(
  definition: ToolDefinition,
  { category }: ToolAssessment,
  { neighbours = [], pathOf }: ToolPageContext,
): PageSection[] {
  const words = new Set(splitNameWords(definition.name).map(({ text }) => text))
  const rows = neighbours
    .filter(({ name }) => name !== definition.name)
    .map((other) => ({
      other,
      shared: splitNameWords(other.name).filter(({ text }) => words.has(text)).length,
    }))
    .sort((a, b) => b.shared - a.shared || (a.other.name < b.other.name ? -1 : 1))
    .slice(0, RELATED_MAX)
    .map(({ other }) => {
      const assessment = getAssessment(other)
      const cell = pathOf === undefined ? other.name : { text: other.name, to: pathOf(other) }
      const milder =
        !assessment.unknown &&
        CATEGORIES.indexOf(assessment.category) < CATEGORIES.indexOf(category)
      return [
        cell,
        assessment.unknown ? `unknown, perhaps ${assessment.category}` : assessment.category,
        milder ? 'yes' : 'no',
      ]
    })
  if (rows.length === 0) return []
  const table: PageBlock = { kind: 'table', head: ['tool', 'category', 'milder than this'], rows }
  return [{ heading: 'Related tools of the server', blocks: [table] }]
}

function server(
  { server }: ToolDefinition,
  { neighbours = [], pathOf }: ToolPageContext,
): PageBlock[] {
  // A name as `scope__package` is how files name `@scope/package`.
  const [, scope, name] = /^([a-z0-9._-]+?)__([a-z0-9._-]+)$/i.exec(server) ?? []
  const known = scope === undefined ? '' : `, the package \`@${scope}/${name}\``
  const of = neighbours.length > 1 ? ` It lists ${summaryOf(countTools(neighbours))}.` : ''
  const blocks: PageBlock[] = [
    createTextBlock(
      `\`${server}\`${known}.${of} Put Sluice in front of it with \`sluice init\` or a line under \`servers:\`; every call passes the gate before it reaches the server.`,
    ),
  ]
  const first = neighbours[0]
  if (pathOf !== undefined && first !== undefined)
    blocks.push({
      kind: 'table',
      head: ['all its tools'],
      rows: [[{ text: server, to: pathOf({ ...first, name: '' }) }]],
    })
  return blocks
}

function recommended(id: string, { category, risk, unknown }: ToolAssessment): PageBlock[] {
  const rule = unknown ? ['action: require_approval'] : beginWith(category, risk)
  return [
    createTextBlock(
      `A whole document: the other tools go on working by their category. Try it with \`sluice policy explain ${id}\`.`,
    ),
    yaml(suggestRule(id, rule)),
  ]
}

export function beginWith(category: Category, risk: Risk): readonly string[] {
  if (category === 'Read' && risk !== 'low') return ['action: require_approval']
  return BEGIN[category]
}
