// The page of one tool: what it does, what it can do and why that needs a policy, what it is not, the
// attacks that fit it, the rule to begin with, and the questions people ask. Pure; the words of the
// definition are the server's and are shown as such.

import type { Category, Risk, ToolDefinition } from '../core/tools.ts'
import type { Account } from './classify.ts'
import { ATTACKS, type LinkedAttack } from './link-attacks.ts'
import { type Block, type Page, type Section, say, yaml } from './page.ts'
import { suggestRule } from './suggest-policy.ts'
import { toldOf } from './told.ts'

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

function meansOf({ category, evidence }: Account): string {
  const says = evidence[0]?.says ?? ''
  const own = category === 'Write' ? WRITES.find(([pattern]) => pattern.test(says)) : undefined
  return own?.[1] ?? MEANS[category]
}

/** The rule to begin with, by class and risk. */
const BEGIN: Readonly<Record<Category, readonly string[]>> = {
  Read: ['action: allow'],
  Write: ['action: allow', 'rate_limit: { max: 10, window: 60 }'],
  Execute: ['action: require_approval'],
  Destructive: ['action: require_approval', 'rate_limit: { max: 5, window: 60 }'],
  Financial: ['action: require_approval', 'rate_limit: { max: 5, window: 60 }'],
}

const DESCRIPTION_CHARS_MAX = 600
const EVIDENCE_SHOWN_MAX = 8

export function toolPage(definition: ToolDefinition): Page {
  const told = toldOf(definition)
  const id = `${definition.server}/${definition.name}`
  return {
    title: id,
    lead: `**${told.category}**, ${told.risk} risk. ${meansOf(told)}`,
    sections: [
      { heading: 'What it does', blocks: described(definition) },
      { heading: 'Why it needs a policy', blocks: why(told) },
      { heading: 'What it is not', blocks: whatNot(told) },
      ...attackSection(told.attacks),
      { heading: 'Recommended rule', blocks: recommended(id, told) },
      { heading: 'Questions', blocks: [] },
      ...questions(id, definition, told),
    ],
  }
}

function described({ description, inputSchema, title }: ToolDefinition): Block[] {
  const said = typeof description === 'string' ? description.trim() : ''
  const short =
    said.length > DESCRIPTION_CHARS_MAX ? `${said.slice(0, DESCRIPTION_CHARS_MAX)} …` : said
  const properties = (inputSchema as { properties?: object } | undefined)?.properties
  const names = properties === undefined ? [] : Object.keys(properties)
  return [
    say(
      short === '' ? (title ?? 'Its server says nothing about it.') : `Its server says: “${short}”`,
    ),
    say(
      names.length === 0
        ? 'It takes no arguments.'
        : `It takes ${names.map((name) => `\`${name}\``).join(', ')}.`,
    ),
  ]
}

function why(told: Account): Block[] {
  const { riskBecause, confidence, evidence, flows, depends, disagreements } = told
  const shown = evidence.filter(({ text }) => text !== '').slice(0, EVIDENCE_SHOWN_MAX)
  const blocks: Block[] = [
    say(`${meansOf(told)} Risk: ${riskBecause}. Confidence ${Math.round(confidence * 100)} %.`),
    say(flowSentence(flows)),
  ]
  if (shown.length > 0)
    blocks.push({
      kind: 'table',
      head: ['words of the definition', 'where', 'what they say', 'weight'],
      rows: shown.map(({ text, at, says, weight }) => [`\`${text}\``, at, says, weight.toFixed(2)]),
    })
  for (const { argument, kind } of depends)
    blocks.push(
      say(
        kind === 'program'
          ? `What a call does depends on \`${argument}\`, a program that no rule can read with certainty.`
          : `The class of a call depends on \`${argument}\` (${kind}); rules can ask for \`call.category\`.`,
      ),
    )
  for (const disagreement of disagreements) blocks.push(say(`Beware: ${disagreement}.`))
  return blocks
}

function flowSentence({ reads, sends }: Account['flows']): string {
  const out = {
    nothing: 'what it is given goes nowhere',
    inside: 'what it is given stays inside of its server',
    outside: 'what it is given may leave for elsewhere',
  }
  return `What it brings in is ${reads.join(' and ')}; ${out[sends]}.`
}

function whatNot({ whyNot }: Account): Block[] {
  return [{ kind: 'list', items: whyNot.map(({ because }) => `${because}.`) }]
}

function attackSection(linked: readonly LinkedAttack[]): Section[] {
  if (linked.length === 0) return []
  const rows = linked.map(({ id, name, argument, gate }) => {
    const attack = ATTACKS.find((one) => one.id === id)
    const by = argument === undefined ? '' : ` by \`${argument}\``
    return [{ text: `${id} ${name}`, to: `attacks#${id}` }, `${attack?.what ?? ''}${by}`, gate]
  })
  const table: Block = { kind: 'table', head: ['attack', 'what it is', 'a gate stops it'], rows }
  return [{ heading: 'Attacks that exploit this kind of access', blocks: [table] }]
}

function recommended(id: string, { category, risk }: Account): Block[] {
  return [
    say('A rule to begin with; the other tools go on working by their category.'),
    yaml(suggestRule(id, beginWith(category, risk))),
  ]
}

export function beginWith(category: Category, risk: Risk): readonly string[] {
  if (category === 'Read' && risk !== 'low') return ['action: require_approval']
  return BEGIN[category]
}

/** In its server's words, where there are few enough. */
function firstSentence({ description }: ToolDefinition): string {
  const [first] = /^[^.\n]{8,200}(?=\.(?:\s|$)|\n|$)/.exec(description?.trim() ?? '') ?? []
  return first === undefined ? '' : `“${first}.” `
}

function questions(id: string, definition: ToolDefinition, told: Account): Section[] {
  const { server, name } = definition
  const { category, risk } = told
  const ask = (heading: string, ...blocks: Block[]): Section => ({ heading, blocks })
  const limited = ['action: allow', 'rate_limit: { max: 10, window: 60 }']
  return [
    ask(
      `What does ${name} do?`,
      say(`${firstSentence(definition)}${meansOf(told)} Its category is ${category}.`),
    ),
    ask(
      `How do I enforce a policy on ${name}?`,
      say(
        `Put Sluice in front of \`${server}\` (\`sluice init\`, or a line under \`servers:\`), write a rule for \`${id}\` under \`tools:\` of the policy, and try it: \`sluice policy explain ${id}\`. Every call passes the gate before it reaches the server.`,
      ),
    ),
    ask(`What risk is ${name}?`, say(`${risk}: ${told.riskBecause}.`)),
    ask(
      `Can I rate-limit ${name}?`,
      say(
        'Yes: `max` calls in any `window` of seconds, for each session unless `per` says otherwise.',
      ),
      yaml(suggestRule(id, limited)),
    ),
    ask(
      `How do I block ${name}?`,
      say('`deny` refuses it and tells the agent why; `hide` takes it from the list as well.'),
      yaml(suggestRule(id, ['action: deny', 'reason: not for agents'])),
    ),
    ask(`Which server provides ${name}?`, say(`\`${server}\`.`)),
  ]
}
