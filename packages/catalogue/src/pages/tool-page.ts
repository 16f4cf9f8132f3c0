// The page of one tool: what it does and takes, how agents use it, what an attacker can do with it, the
// policy to begin with and the ways to change it, what a denied agent receives, why it has its class, and
// its neighbours. Pure; the words of the definition are the server's and are shown as such.

import { createTextBlock, type Page, type PageBlock, yaml } from '@sluice/guard/show/page'
import type { Category, ToolDefinition } from '@sluice/policy/calls/tools'
import { ATTACKS, type LinkedAttack } from '../attacks/link-attacks.ts'
import { CLASS_TEXTS } from '../classify/class-texts.ts'
import type { ToolAssessment } from '../classify/classify.ts'
import type { EvidenceKind } from '../classify/describe-signal.ts'
import { type AssessmentWithAttacks, getAssessment } from './assessment-cache.ts'
import { cutAtWord, parameterBlocks } from './parameter-table.ts'
import { titleWithProduct } from './product-name.ts'
import { registerBlocks } from './register-server.ts'
import { relatedSection, serverBlocks, type ToolPageContext } from './related-tools.ts'
import { ownRule, suggestRule } from './suggest-policy.ts'
import { adviceFor, denialOf, hasStructuredDenial, limitFor, usageOf, WAYS } from './tool-advice.ts'

const DRIVES_A_PAGE = 'It operates a live page or device, with whatever the user is signed in to.'
const HANDS_WORK_OVER = 'It gives work to another agent, which then acts by itself.'
const STARTS_OR_STOPS = 'It starts or stops something that runs.'
const REPLACES = 'It replaces what was there, and offers no way to bring it back.'
const TAKES_ACCESS = 'It takes away access, which somebody has to grant again.'

/** What a tool of a class does by what the strongest of its words tells, where the class alone says less. */
const SHARPER: Partial<Record<Category, Partial<Record<EvidenceKind, string>>>> = {
  Write: {
    keep: 'It makes a copy, and the copy is no longer guarded by its source.',
    send: 'It sends something to somebody and cannot take it back.',
    generate: 'It creates something new and leaves what was there.',
    settle: 'It changes the state of something that others rely on.',
    link: 'It links things, or gives somebody access.',
  },
  Execute: {
    'acts on a screen': DRIVES_A_PAGE,
    drive: DRIVES_A_PAGE,
    'drives an agent': HANDS_WORK_OVER,
    'prompts an agent': HANDS_WORK_OVER,
    power: STARTS_OR_STOPS,
    'stops a job': STARTS_OR_STOPS,
    deploy: 'It builds or deploys something, which then runs.',
  },
  Destructive: {
    'replaces the whole': REPLACES,
    'loses what was there': REPLACES,
    'takes access away': TAKES_ACCESS,
    revoke: TAKES_ACCESS,
    'makes a secret void': TAKES_ACCESS,
  },
}

function meansOf({ category, evidence }: ToolAssessment): string {
  const [strongest] = evidence
  // What is archived is put away, not copied.
  const isArchived = /^archiv/i.test(strongest?.text ?? '')
  const kind = isArchived ? 'settle' : (strongest?.kind ?? 'other')
  return SHARPER[category]?.[kind] ?? CLASS_TEXTS[category].means
}

/** The rule to begin with, for a tool that needs none of its own. */
const BEGIN: Readonly<Record<Category, readonly string[]>> = {
  Read: ['action: allow'],
  Write: ['action: allow', 'rate_limit: { max: 10, window: 60 }'],
  Execute: ['action: require_approval'],
  Destructive: ['action: require_approval', 'rate_limit: { max: 5, window: 60, per: principal }'],
  Financial: ['action: require_approval', 'rate_limit: { max: 5, window: 60, per: principal }'],
}

const DESCRIPTION_CHARS_MAX = 600
const EVIDENCE_SHOWN_MAX = 8
/** In percent; a class is never certain. */
const CONFIDENCE_SHOWN_MAX = 99

/** Each heading is a question that people ask of a tool. */
export function toolPage(definition: ToolDefinition, around: ToolPageContext = {}): Page {
  const assessment = getAssessment(definition)
  const { server, name } = definition
  const id = `${server}/${name}`
  return {
    title: titleWithProduct(id, server),
    lead: leadOf(assessment),
    sections: [
      { heading: `What does ${name} do?`, blocks: described(definition) },
      { heading: `Which arguments does ${name} take?`, blocks: parameterBlocks(definition) },
      ...(assessment.unknown
        ? [{ heading: `What is the class of ${name}?`, blocks: settling(id, assessment) }]
        : []),
      {
        heading: `How do agents use ${name}?`,
        blocks: [
          createTextBlock(`${usageOf(definition, assessment)} ${flowSentence(assessment.flows)}`),
        ],
      },
      {
        heading: `What can an attacker do with ${name}?`,
        blocks: [attackTable(assessment.attacks)],
      },
      {
        heading: `What should I do about ${name}?`,
        blocks: [
          { kind: 'list', items: adviceFor(definition, assessment, around.neighbours ?? []) },
        ],
      },
      {
        heading: `How do I enforce a rule on ${name}?`,
        blocks: [...registerBlocks(definition), ...recommended(id, definition, assessment)],
      },
      { heading: `Can I rate limit ${name}?`, blocks: limited(definition, assessment) },
      { heading: `Can I block ${name}, or have calls approved?`, blocks: blocked(definition) },
      {
        heading: assessment.unknown
          ? `Why is the class of ${name} unknown?`
          : `Why is ${name} ${assessment.category}, and no other class?`,
        blocks: why(assessment),
      },
      ...relatedSection(definition, around),
      { heading: `Which server provides ${name}?`, blocks: serverBlocks(definition, around) },
    ],
  }
}

/** The first line of the page. If the class is a guess, no risk is shown. */
function leadOf(assessment: ToolAssessment): string {
  const { category, risk, unknown } = assessment
  if (!unknown) return `**${category}**, ${risk} risk. ${meansOf(assessment)}`
  const decided =
    category === 'Execute'
      ? 'the decision for Execute'
      : `the stricter of the decisions for ${category} and for Execute`
  return `**Unknown**, perhaps ${category}: its definition does not say clearly what it does. A call gets ${decided}.`
}

/** The line that ends the guess. */
function settling(id: string, { category }: ToolAssessment): PageBlock[] {
  return [
    createTextBlock(
      `Find out what it does, then name its class in the policy. If the guess is right (the rest of this page assumes so):`,
    ),
    yaml(['classify:', `  ${JSON.stringify(id)}: ${category}`, ''].join('\n')),
  ]
}

function described({ description, title }: ToolDefinition): PageBlock[] {
  const text = typeof description === 'string' ? withoutBlankLines(description) : ''
  if (text === '') return [createTextBlock(title ?? 'Its server says nothing about it.')]
  return [createTextBlock(`Its server says: “${cutAtWord(text, DESCRIPTION_CHARS_MAX)}”`)]
}

/** Line by line: an expression would look at a run of blanks once for each of them. */
function withoutBlankLines(text: string): string {
  const lines = text.split('\n').map((line) => line.trim())
  return lines.filter((line) => line !== '').join('\n')
}

function why(assessment: AssessmentWithAttacks): PageBlock[] {
  const { risk, riskBecause, confidence, unknown, evidence, depends, disagreements } = assessment
  const shown = evidence.filter(({ text }) => text !== '').slice(0, EVIDENCE_SHOWN_MAX)
  const guess = shown.length > 0 ? 'The guess rests on:' : 'No word of its definition tells more.'
  const sure = `Confidence ${Math.min(CONFIDENCE_SHOWN_MAX, Math.round(confidence * 100))} %.`
  const blocks: PageBlock[] = [
    createTextBlock(
      unknown
        ? `${sure} That is less than this class needs, so the gate takes it for a guess. ${guess}`
        : `${sure} Risk ${risk}: ${riskBecause}.`,
    ),
  ]
  if (shown.length > 0)
    blocks.push({
      kind: 'table',
      head: ['words of the definition', 'where', 'what they say', 'weight'],
      rows: shown.map(({ text, at, says, weight }) => [
        `\`${text}\``,
        placeOf(at),
        says,
        weight.toFixed(2),
      ]),
    })
  for (const { argument, kind } of depends)
    blocks.push(
      createTextBlock(
        kind === 'program'
          ? `What a call does depends on \`${argument}\`, a program. \`shell(args.${argument})\` reads it if it is a command line; no rule can read another one with certainty.`
          : `The class of a call depends on \`${argument}\` (${kind}); rules can ask for \`call.category\`.`,
      ),
    )
  for (const disagreement of disagreements) blocks.push(createTextBlock(`Beware: ${disagreement}.`))
  if (!unknown)
    blocks.push({
      kind: 'list',
      items: assessment.whyNot.map(({ category, because }) => `Not ${category}: ${because}.`),
    })
  return blocks
}

/** A JSON pointer in words: `/inputSchema/properties/a/enum/0` is a choice of `a`. */
function placeOf(pointer: string): string {
  const names = [...pointer.matchAll(/\/properties\/([^/]+)/g)].map(([, name]) => name)
  if (names.length === 0) return pointer.slice(1)
  const kind = /\/(?:enum\/\d+|const)$/.test(pointer)
    ? 'a choice of'
    : pointer.endsWith('/description')
      ? 'the description of'
      : 'the argument'
  return `${kind} \`${names.join('.')}\``
}

const READS = {
  public: 'public data',
  private: 'private data',
  untrusted: 'text that strangers may have written',
}
const SENDS = {
  nothing: 'its arguments are not sent on',
  inside: 'its arguments stay within its server',
  outside: 'its arguments may leave its server for somewhere else',
}

function flowSentence({ reads, sends }: ToolAssessment['flows']): string {
  return `Its results are ${reads.map((source) => READS[source]).join(' and ')}; ${SENDS[sends]}.`
}

function attackTable(linked: readonly LinkedAttack[]): PageBlock {
  // What this very tool lets somebody do comes first.
  const own = [...linked].sort((a, b) => Number(isOfClass(b)) - Number(isOfClass(a)))
  const rows = own.map(({ id, name, what, gate }) => [
    { text: `${id} ${name}`, to: `attacks#${id}` },
    what,
    gate,
  ])
  return { kind: 'table', head: ['attack', 'what happens', 'a gate stops it'], rows }
}

function isOfClass({ id }: LinkedAttack): boolean {
  return ATTACKS.find((attack) => attack.id === id)?.signal === 'its class'
}

function limited(definition: ToolDefinition, assessment: AssessmentWithAttacks): PageBlock[] {
  const { says, rule } = limitFor(definition, assessment)
  return [
    createTextBlock(`Yes, in place of its rule above: ${says}.`),
    yaml(
      [
        'tools:',
        `  ${JSON.stringify(`${definition.server}/${definition.name}`)}: ${rule}`,
        '',
      ].join('\n'),
    ),
    createTextBlock(
      'The window slides, so the limit resets by itself: a call counts until it is older than the window. An agent over the limit is told when to try again.',
    ),
  ]
}

function blocked(definition: ToolDefinition): PageBlock[] {
  const also = hasStructuredDenial(definition)
    ? ' The same data is in `_meta`, under `sluice/decision`.'
    : ''
  const rows = WAYS.map(([way, rule, says]) => [`**${way}**`, `\`${rule}\``, says])
  return [
    createTextBlock('Yes, by one of these in place of its rule:'),
    { kind: 'table', head: ['way', 'rule', 'what happens'], rows },
    createTextBlock(
      `A denied agent gets a tool result that says why, in words that a model can act on and as data. It is never a protocol error, which clients take for a fault.${also}`,
    ),
    { kind: 'code', language: 'json', text: denialOf('not for agents', definition) },
  ]
}

function recommended(
  id: string,
  definition: ToolDefinition,
  assessment: ToolAssessment,
): PageBlock[] {
  const rule = ownRule(definition, assessment)?.rule ?? BEGIN[assessment.category]
  return [
    createTextBlock(
      `Write the rule, here as a whole document in which other tools follow the rule of their category, and try it with \`sluice policy explain ${id}\`:`,
    ),
    yaml(suggestRule(id, rule)),
  ]
}
