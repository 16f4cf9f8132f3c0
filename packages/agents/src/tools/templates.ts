// Templates: the six that everybody knows, and the shape that custom ones are held to. A template
// says what an agent is told and how it is limited; it grants no tool, the create call does. Imports
// are scanned: what hides text from a person or carries a secret is not taken. Pure.

import { findHidden } from '@sluice/guard/hidden-text'
import { findInjections } from '@sluice/guard/injections'
import { newScanBudget } from '@sluice/guard/patterns'
import { findSecretShapes } from '@sluice/guard/secrets'
import { z } from 'zod'
import { INSTRUCTIONS_LENGTH_MAX, TEMPLATE_BYTES_MAX } from '../shared/limits.ts'

/** How much of what was found the reason shows. */
const SHOWN_LENGTH = 80

const skill = z.strictObject({
  name: z.string().max(128),
  description: z.string().max(2_000),
  trigger: z.string().max(128).optional(),
  content: z.string().max(20_000).optional(),
})

export const templateShape = z.strictObject({
  id: z.string().regex(/^[a-z0-9][a-z0-9-]{0,63}$/, 'lowercase letters, digits and `-`'),
  name: z.string().min(1).max(128),
  description: z.string().max(2_000).default(''),
  category: z.string().min(1).max(64).default('custom'),
  version: z.string().max(32).default('1.0.0'),
  author: z.string().max(128).default(''),
  tags: z.array(z.string().max(64)).max(32).default([]),
  instructions: z.string().max(INSTRUCTIONS_LENGTH_MAX),
  model: z.string().max(256).optional(),
  maxTurns: z.int().min(1).optional(),
  skills: z.array(skill).max(64).default([]),
})

export type Template = z.infer<typeof templateShape> & { readonly builtin: boolean }

/** Why a template is not taken; undefined if it may be. */
export function scanTemplate(template: z.infer<typeof templateShape>): string | undefined {
  const text = JSON.stringify(template)
  if (text.length > TEMPLATE_BYTES_MAX) return `it has more than ${TEMPLATE_BYTES_MAX} characters`
  return scanTexts(textsOf(template))
}

/** Why an agent is not told these texts: one hides something from a person, speaks to the model behind a person's
 * back, or carries a secret. Undefined if they may be. */
export function scanTexts(texts: readonly string[]): string | undefined {
  // One budget for all texts: a text that exceeds it counts as suspicious.
  const budget = newScanBudget('at once')
  for (const each of texts) {
    const [finding] = [...findHidden(each), ...findInjections(each, budget)].filter(
      ({ severity }) => severity !== 'flag',
    )
    if (finding !== undefined) return `${finding.kind}: ${finding.text.slice(0, SHOWN_LENGTH)}`
    const [secret] = findSecretShapes(each, budget)
    if (secret !== undefined) return `it carries a secret (${secret.kind})`
  }
  return undefined
}

function textsOf(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  if (typeof value !== 'object' || value === null) return []
  return Object.values(value).flatMap(textsOf)
}

const WORK =
  'You have files of your own and a todo list. Plan with write_todos, keep it true with update_todo, ' +
  'and say plainly what you did and what you did not.'

export const BUILTIN_TEMPLATES: readonly Template[] = [
  toTemplate('coder', 'Coder', {
    category: 'development',
    description: 'Reads, writes and edits code',
    tags: ['code', 'files'],
    lines: [
      'You write software. Read before you change, change little, and keep to the style you find.',
      'Handle the cases at the edges and the ones that fail. Run what can be run with run_code.',
    ],
  }),
  toTemplate('researcher', 'Researcher', {
    category: 'research',
    description: 'Gathers, weighs and sums up',
    tags: ['analysis'],
    lines: [
      'You look into questions. Separate what you found from what you conclude, and name the source.',
      'Say how sure you are. Where sources disagree, show both.',
    ],
  }),
  toTemplate('tester', 'Tester', {
    category: 'testing',
    description: 'Writes tests and finds bugs',
    tags: ['qa', 'coverage', 'bugs'],
    lines: [
      'You test. Find out what the thing promises, then try to break each promise.',
      'A test you write must be able to fail; show that it did.',
    ],
  }),
  toTemplate('reviewer', 'Reviewer', {
    category: 'development',
    description: 'Reviews changes',
    tags: ['review', 'quality'],
    lines: [
      'You review changes. Look for what is wrong before what could be nicer: correctness, security,',
      'data that is lost, then clarity. Give each finding a place and a way to fix it.',
    ],
  }),
  toTemplate('security', 'Security', {
    category: 'security',
    description: 'Looks for weaknesses',
    tags: ['audit', 'threats'],
    lines: [
      'You think as an attacker and write as a defender. Follow data from where it comes in to where',
      'it is trusted. Report only what you can show, with what it would take and what it would cost.',
    ],
  }),
  toTemplate('swarm-orchestrator', 'Swarm orchestrator', {
    category: 'orchestration',
    description: 'Splits work among coder, tester and reviewer',
    tags: ['swarm', 'multi-agent', 'team'],
    lines: [
      'You split work into pieces that can be done apart, hand each to whoever fits (coder, tester,',
      'reviewer), and put the results together. Keep one list of who does what.',
    ],
  }),
]

/** Names people use for one of them. */
export const SHORT_NAMES: Readonly<Record<string, string>> = { swarm: 'swarm-orchestrator' }

interface TemplateText {
  readonly category: string
  readonly description: string
  readonly tags: string[]
  readonly lines: readonly string[]
}

function toTemplate(
  id: string,
  name: string,
  { category, description, tags, lines }: TemplateText,
): Template {
  const instructions = `${lines.join(' ')}\n\n${WORK}`
  const about = { id, name, category, description, tags, version: '1.0.0', author: 'Sluice' }
  return { ...about, instructions, skills: [], builtin: true }
}
