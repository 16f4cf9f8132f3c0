// Checks to rules and guardrails. A tool with one check becomes one rule, which reads best; with
// several it becomes `allow` and one guardrail for each, so that every check keeps its own reason.
// Both say the same: in a rule and in a guardrail alike, what cannot be decided is denied.

import type { Check, ImportDraft, RuleBody } from './draft.ts'

export interface ImportTarget {
  /** `<server>/<tool>`, or `<server>/*`. */
  readonly key: string
  /** What guardrails are named after. */
  readonly title: string
  readonly comments: readonly string[]
  readonly at: number
}

/** The rule of one tool, and its guardrails. `body` is the rule if the original has an action for the tool. */
export function composeTool(
  draft: ImportDraft,
  target: ImportTarget,
  checks: readonly Check[],
  body?: RuleBody,
): void {
  const add = (body: RuleBody, comments: readonly string[] = []) =>
    draft.tools.push({
      tools: target.key,
      comments: [...new Set([...target.comments, ...comments])],
      body,
      at: target.at,
    })
  const denying = checks.find((check) => check.denies)
  const [only, ...others] = checks
  if (body?.action === 'deny' || body?.action === 'hide') add(body)
  else if (denying !== undefined) add({ action: 'deny', reason: denying.reason }, denying.comments)
  else if (body === undefined && only?.match.length === 0 && others.length === 0) {
    const { held, reason, limits, approvalTimeout, comments } = only
    const action = held === 'deny' ? 'allow' : held
    add({ action, reason, when: allOf(only.pass), limits, approvalTimeout }, comments)
  } else {
    add(body ?? { action: 'allow' })
    composeGuardrails(draft, target, checks)
  }
}

/** One guardrail for each check, two where it both holds and limits. */
export function composeGuardrails(
  draft: ImportDraft,
  { key, title, at }: ImportTarget,
  checks: readonly Check[],
): void {
  for (const check of checks) {
    const { held, limits, approvalTimeout, reason } = check
    const parts: RuleBody[] = []
    const mustPass = allOf(check.pass)
    const match = allOf(check.match)
    if (check.denies) parts.push({ action: 'deny' })
    else if (mustPass !== undefined) parts.push({ action: 'deny', when: `!(${mustPass})` })
    if (!check.denies && (match !== undefined || held === 'require_approval'))
      parts.push({ action: held, when: match, approvalTimeout })
    const isLimited = !check.denies && limits.length > 0
    if (isLimited) parts.push({ limits })
    parts.forEach((body, index) => {
      const suffix = isLimited && index > 0 && index === parts.length - 1 ? ', limit' : ''
      const name = uniqueName(draft, `${title}: ${check.name}${suffix}`)
      const comments = index === 0 ? check.comments : []
      draft.guardrails.push({ name, comments, tools: key, body: { ...body, reason }, at })
    })
  }
}

function allOf(expressions: readonly string[]): string | undefined {
  return expressions.length === 0 ? undefined : expressions.join(' && ')
}

const NAME_LENGTH_MAX = 190

function uniqueName({ names }: ImportDraft, wanted: string): string {
  const base = wanted.slice(0, NAME_LENGTH_MAX)
  let name = base
  for (let number = names.size + 1; names.has(name); number++) name = `${base} (${number})`
  names.add(name)
  return name
}
