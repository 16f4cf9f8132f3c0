// A policy for the tools somebody has: deny by default, reads go through, writes at a pace, the rest
// asks a person; what a single tool needs beyond its class gets a rule of its own. Made to be read
// and changed. Pure; tested by compiling it against the very tools it is for.

import { inspectDefinition } from '@sluice/guard/inspect-definition'
import type { Category, ToolDefinition } from '@sluice/policy/calls/tools'
import type { ToolAssessment } from '../classify/classify.ts'
import { getAssessment } from './assessment-cache.ts'

/**
 * A policy to start from, and why some tools have a rule of their own.
 *
 * @example
 * ```ts
 * const { yaml, special }: PolicySuggestion = suggestPolicy(definitions)
 * ```
 */
export interface PolicySuggestion {
  readonly yaml: string
  /** The tools with a rule of their own, and why. */
  readonly special: readonly { readonly tool: string; readonly because: string }[]
}

interface AssessedTool {
  readonly definition: ToolDefinition
  readonly assessment: ToolAssessment
  readonly id: string
}

const CATEGORY_RULES: Readonly<Record<Category, string>> = {
  Read: 'allow',
  Write: '{ action: allow, rate_limit: { max: 30, window: 60 } }',
  Execute: 'require_approval',
  Destructive: '{ action: require_approval, rate_limit: { max: 5, window: 60, per: principal } }',
  Financial: '{ action: require_approval, rate_limit: { max: 5, window: 60, per: principal } }',
}

/** What servers ask of their clients; a model's answer (`sampling/createMessage`) stays denied. */
const METHOD_RULES = [
  '# What servers ask of their clients: their folders, and the person, who answers or declines.',
  'methods:',
  '  roots/list: allow',
  '  elicitation/create: allow',
]

/**
 * A cautious policy for these tools, to start from.
 *
 * @example
 * ```ts
 * writeFileSync('policy.yaml', suggestPolicy(definitions).yaml)
 * ```
 */
export function suggestPolicy(definitions: readonly ToolDefinition[]): PolicySuggestion {
  const tools = definitions
    .map((definition) => ({
      definition,
      assessment: getAssessment(definition),
      id: `${definition.server}/${definition.name}`,
    }))
    .sort((a, b) => (a.id < b.id ? -1 : 1))
  const classes = new Set(tools.map(({ assessment }) => assessment.category))
  const rules = tools.flatMap(specialRule)
  const labels = tools.flatMap(labelOf)
  const lines = [
    '# Suggested by sluice from the definitions of your tools. Read it, change it, keep it.',
    'version: 1',
    'default: deny',
    "# Calls whose values come from a stranger's text wait for you: sluice policy check --show",
    'protect: balanced',
    '',
    'categories:',
    ...(Object.keys(CATEGORY_RULES) as Category[])
      .filter((category) => classes.has(category))
      .map((category) => `  ${category}: ${CATEGORY_RULES[category]}`),
  ]
  lines.push('', ...METHOD_RULES)
  if (rules.length > 0) lines.push('', 'tools:', ...rules.flatMap(({ lines: own }) => own))
  if (labels.length > 0)
    lines.push('', '# What an answer brings into the session.', 'labels:', ...labels)
  lines.push('', 'guardrails:', ...SECRET_GUARDRAILS, ...wayOut(tools))
  return {
    yaml: `${lines.join('\n')}\n`,
    special: rules.map(({ tool, because }) => ({ tool, because })),
  }
}

/** A rule for one tool, in a document that leaves the others working. */
export function suggestRule(tool: string, rule: readonly string[]): string {
  return [
    'version: 1',
    'default: deny',
    'protect: balanced',
    'categories:',
    ...Object.entries(CATEGORY_RULES).map(([category, own]) => `  ${category}: ${own}`),
    'tools:',
    `  ${quote(tool)}:`,
    ...rule.map((line) => `    ${line}`),
    '',
  ].join('\n')
}

function specialRule({ definition, assessment, id }: AssessedTool) {
  const own = ownRule(definition, assessment)
  if (own === undefined) return []
  const { because, rule } = own
  const lines = [`  # ${because}`, `  ${quote(id)}:`, ...rule.map((line) => `    ${line}`)]
  return [{ tool: id, because, lines }]
}

/** What a tool needs beyond the rule of its class. */
export interface OwnRule {
  readonly action: OwnAction
  /** Why, for people. */
  readonly because: string
  /** The lines below its name in a policy. */
  readonly rule: readonly string[]
}

type OwnAction = 'hide' | 'require_approval' | 'allow'

/** The rule that this tool needs; undefined if that of its class is enough. */
export function ownRule(
  definition: ToolDefinition,
  assessment: ToolAssessment,
): OwnRule | undefined {
  const found = reasonFor(definition, assessment)
  if (found === undefined) return undefined
  const { action, reason, when } = found
  const rule = [`action: ${action}`]
  if (when !== undefined) rule.push(`when: ${when}`, 'otherwise: require_approval')
  else if (action !== 'hide') rule.push(`reason: ${quote(reason)}`)
  return { action, because: reason, rule }
}

function reasonFor(
  definition: ToolDefinition,
  assessment: ToolAssessment,
): { action: OwnAction; reason: string; when?: string } | undefined {
  const { severity, findings } = inspectDefinition(definition)
  const worst = findings[0]?.kind ?? ''
  if (severity === 'refuse' || severity === 'hold')
    return { action: 'hide', reason: `its definition: ${worst}` }
  if (assessment.unknown)
    return {
      action: 'require_approval',
      reason: `what it does is not clear from its definition, perhaps ${assessment.category}`,
    }
  const [decides] = assessment.depends
  const reads =
    assessment.depends.length === 1 &&
    (decides?.kind === 'sql' || Object.values(decides?.values ?? {}).includes('Read'))
  if (reads && assessment.category !== 'Read' && assessment.category !== 'Write')
    return {
      action: 'allow',
      reason: `reads pass, by its argument ${decides?.argument}; all else asks`,
      when: 'call.category == "Read"',
    }
  if (assessment.category === 'Read' && assessment.risk !== 'low')
    return { action: 'require_approval', reason: 'it reads secrets' }
  return undefined
}

function labelOf({ assessment, id }: AssessedTool): string[] {
  const { reads } = assessment.flows
  const labels = reads.filter((one) => one === 'private' || one === 'untrusted')
  const answers = assessment.category === 'Read' || assessment.category === 'Execute'
  return answers && labels.length > 0 ? [`  ${quote(id)}: [${labels.join(', ')}]`] : []
}

/** Guardrails by class, so that they also hold for tools that are not known yet. */
const SECRET_GUARDRAILS = [
  '  - name: files with secrets',
  '    match: { categories: [Read] }',
  "    when: '(has(args.path) && args.path.isSecretFile()) || (has(args.file_path) && args.file_path.isSecretFile()) || (has(args.paths) && args.paths.exists(each, each.isSecretFile()))'",
  '    action: require_approval',
  '    extra_args: allow',
  '    reason: it names a file that usually holds secrets',
  '  - name: secrets that leave',
  '    match: { categories: [Read] }',
  '    when: call.secret',
  '    action: require_approval',
  '    reason: a secret would leave with the call',
]

/** The lethal trifecta: after private data and untrusted text, a way out asks a person. */
function wayOut(tools: readonly AssessedTool[]): string[] {
  const brings = (label: 'private' | 'untrusted') =>
    tools.some(({ assessment }) => assessment.flows.reads.includes(label))
  const out = tools.filter(({ assessment }) => assessment.flows.sends === 'outside')
  if (!brings('private') || !brings('untrusted') || out.length === 0) return []
  return [
    '  - name: private data stays in',
    '    match:',
    '      tools:',
    ...out.map(({ id }) => `        - ${quote(id)}`),
    '    when: session.saw.private && session.saw.untrusted',
    '    action: require_approval',
    '    reason: this session has read private data and untrusted text',
  ]
}

/** Quotes a text so that YAML and JSON both read it. */
function quote(text: string): string {
  return JSON.stringify(text)
}
