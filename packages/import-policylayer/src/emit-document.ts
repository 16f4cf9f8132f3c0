// A draft as YAML text. The `yaml` library does the quoting; comments are cleaned first, since a
// line break in one would let a foreign document write rules of its own into ours.

import { Document, isCollection, isMap, isPair, type Scalar } from 'yaml'
import type { DraftRule, ImportDraft, ImportLimit, RuleBody } from './draft.ts'

export function emitDocument({ comments, tools, guardrails }: ImportDraft): string {
  const rules = tools.map((rule) => [rule.tools, ruleOf(rule.body)])
  const named = guardrails.map(({ name, tools, body }) => ({
    name,
    match: { tools: [tools] },
    ...fieldsOf(body),
  }))
  const document = new Document({
    version: 1,
    default: 'deny',
    tools: tools.length > 0 ? Object.fromEntries(rules) : undefined,
    guardrails: guardrails.length > 0 ? named : undefined,
  })
  document.commentBefore = commentText(comments)
  const root: unknown = document.contents
  for (const { key } of isMap<Scalar>(root) ? root.items : [])
    if (key.value === 'default') key.commentBefore = ' every other server stays shut'
  decorate(document.get('tools'), tools)
  decorate(document.get('guardrails'), guardrails)
  return document.toString({ lineWidth: 0, flowCollectionPadding: true, singleQuote: false })
}

/** Comments above each rule; `match`, `rate_limit` and the like on one line. */
function decorate(list: unknown, rules: readonly DraftRule[]): void {
  for (const [index, item] of (isCollection(list) ? list.items : []).entries()) {
    const { comments } = rules[index] as DraftRule
    const named = (isPair(item) ? item.key : item) as Scalar
    if (comments.length > 0) named.commentBefore = commentText(comments)
    const rule = isPair(item) ? item.value : item
    for (const { value } of isMap(rule) ? rule.items : [])
      if (isCollection(value)) value.flow = true
  }
}

function ruleOf(body: RuleBody): unknown {
  const { action, ...others } = fieldsOf(body)
  return Object.values(others).every((value) => value === undefined)
    ? action
    : { action, ...others }
}

function fieldsOf({ action, when, approvalTimeout, reason, limits = [] }: RuleBody) {
  return {
    action,
    when,
    // Arguments that a tool does not declare say nothing in the original, so they do not here.
    extra_args: when === undefined ? undefined : 'allow',
    rate_limit: oneOrMore(limits.filter((limit) => limit.amount === undefined)),
    spend_limit: oneOrMore(limits.filter((limit) => limit.amount !== undefined)),
    approval: approvalTimeout === undefined ? undefined : { timeout: approvalTimeout },
    reason,
  }
}

function oneOrMore(limits: readonly ImportLimit[]): unknown {
  return limits.length > 1 ? limits : limits[0]
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
