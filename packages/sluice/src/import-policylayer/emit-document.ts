// A draft as YAML text. The `yaml` library does the quoting; comments are cleaned first, since a
// line break in one would let a foreign document write rules of its own into ours.

import { Document, type Pair, type Scalar, type YAMLMap, type YAMLSeq } from 'yaml'
import type { ImportDraft, ImportLimit, RuleBody } from './draft.ts'

export function emitDocument(draft: ImportDraft): string {
  const document = new Document({
    version: 1,
    default: 'deny',
    ...(draft.tools.length > 0 && {
      tools: Object.fromEntries(draft.tools.map(({ key, body }) => [key, ruleOf(body)])),
    }),
    ...(draft.guardrails.length > 0 && {
      guardrails: draft.guardrails.map(({ name, tools, body }) => ({
        name,
        match: { tools: [tools] },
        ...fieldsOf(body),
      })),
    }),
  })
  document.commentBefore = commentText(draft.comments)
  const root = document.contents as unknown as YAMLMap<Scalar, unknown>
  for (const pair of root.items) {
    if (pair.key.value === 'default') pair.key.commentBefore = ' every other server stays shut'
    if (pair.key.value === 'tools') decorateTools(pair.value as YAMLMap<Scalar, unknown>, draft)
    if (pair.key.value === 'guardrails') decorateGuardrails(pair.value as YAMLSeq<YAMLMap>, draft)
  }
  return document.toString({ lineWidth: 0, flowCollectionPadding: true, singleQuote: false })
}

function decorateTools(tools: YAMLMap<Scalar, unknown>, draft: ImportDraft): void {
  tools.items.forEach((pair, index) => {
    const comments = draft.tools[index]?.comments ?? []
    if (comments.length > 0) pair.key.commentBefore = commentText(comments)
    flowInside(pair.value)
  })
}

function decorateGuardrails(guardrails: YAMLSeq<YAMLMap>, draft: ImportDraft): void {
  guardrails.items.forEach((guardrail, index) => {
    const comments = draft.guardrails[index]?.comments ?? []
    if (comments.length > 0) guardrail.commentBefore = commentText(comments)
    flowInside(guardrail)
  })
}

/** `match`, `rate_limit` and the like on one line. */
function flowInside(rule: unknown): void {
  const items = (rule as YAMLMap | null)?.items as Pair[] | undefined
  if (items === undefined) return
  for (const { value } of items)
    if (typeof value === 'object' && value !== null && 'flow' in value) value.flow = true
    else if ((value as YAMLMap | null)?.items !== undefined) (value as YAMLMap).flow = true
}

function ruleOf(body: RuleBody): unknown {
  const fields = fieldsOf(body)
  return Object.keys(fields).length === 1 && body.action !== undefined ? body.action : fields
}

function fieldsOf({ limits = [], ...body }: RuleBody): Record<string, unknown> {
  const { action, when, extra_args, reason, approval } = body
  const rates = limits.filter((limit) => limit.amount === undefined)
  const spends = limits.filter((limit) => limit.amount !== undefined)
  return {
    ...(action !== undefined && { action }),
    ...(when !== undefined && { when }),
    ...(extra_args !== undefined && { extra_args }),
    ...(rates.length > 0 && { rate_limit: oneOrMore(rates) }),
    ...(spends.length > 0 && { spend_limit: oneOrMore(spends) }),
    ...(approval !== undefined && { approval }),
    ...(reason !== undefined && { reason }),
  }
}

function oneOrMore(limits: readonly ImportLimit[]): unknown {
  const written = limits.map(({ amount, max, window, per }) => ({
    ...(amount !== undefined && { amount }),
    max,
    window,
    per,
  }))
  return written.length === 1 ? written[0] : written
}

const COMMENT_LENGTH_MAX = 300

function commentText(lines: readonly string[]): string {
  return lines.map((line) => ` ${cleanLine(line).slice(0, COMMENT_LENGTH_MAX)}`).join('\n')
}

/** One line of harmless text: no control characters, no line breaks of any kind. */
export function cleanLine(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is taken out
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029\ufeff\ud800-\udfff]+/gu, ' ').trim()
}
