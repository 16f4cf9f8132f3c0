// Checks to rules and guardrails. A tool with one check becomes one rule, which reads best; with
// several it becomes `allow` and one guardrail for each, so that every check keeps its own reason.
// Both say the same: in a rule and in a guardrail alike, what cannot be decided is denied.

import type { Check, ImportDraft, ImportLimit, RuleBody } from './draft.ts'

export interface ImportTarget {
  /** `<server>/<tool>`, or `<server>/*`. */
  readonly key: string
  /** What guardrails are named after. */
  readonly title: string
  readonly comments: readonly string[]
  readonly at: number
}

/** The rule of one tool, and its guardrails. */
export function composeTool(
  draft: ImportDraft,
  target: ImportTarget,
  checks: readonly Check[],
): void {
  const { key, comments, at } = target
  const denying = checks.find((check) => check.denies)
  const [only] = checks
  if (denying !== undefined) {
    const body: RuleBody = { action: 'deny', ...reasonOf(denying) }
    draft.tools.push({ key, comments: [...comments, ...denying.comments], body, at })
  } else if (only === undefined) draft.tools.push({ key, comments, body: { action: 'allow' }, at })
  else if (checks.length === 1 && only.match.length === 0) {
    const action = only.held === 'require_approval' ? only.held : 'allow'
    const body: RuleBody = {
      action,
      ...reasonOf(only),
      ...passing(only),
      ...limitsOf(only),
      ...toApprovalRule(only),
    }
    draft.tools.push({ key, comments: [...comments, ...only.comments], body, at })
  } else {
    draft.tools.push({ key, comments, body: { action: 'allow' }, at })
    composeGuardrails(draft, target, checks)
  }
}

/** One guardrail for each check, two where it both holds and limits. */
export function composeGuardrails(
  draft: ImportDraft,
  target: ImportTarget,
  checks: readonly Check[],
): void {
  for (const check of checks) {
    const parts: { suffix: string; body: RuleBody }[] = []
    if (check.denies) parts.push({ suffix: '', body: { action: 'deny' } })
    else {
      if (check.pass.length > 0)
        parts.push({ suffix: '', body: { action: 'deny', ...reading(`!(${all(check.pass)})`) } })
      if (check.match.length > 0)
        parts.push({
          suffix: '',
          body: { action: check.held, ...reading(all(check.match)), ...toApprovalRule(check) },
        })
      else if (check.held === 'require_approval')
        parts.push({ suffix: '', body: { action: check.held, ...toApprovalRule(check) } })
      if (check.limits.length > 0)
        parts.push({ suffix: parts.length > 0 ? ', limit' : '', body: { ...limitsOf(check) } })
    }
    parts.forEach(({ suffix, body }, index) => {
      const name = uniqueName(draft, `${target.title}: ${check.name}${suffix}`)
      const comments = index === 0 ? check.comments : []
      const withReason = { ...body, ...reasonOf(check) }
      draft.guardrails.push({ name, comments, tools: target.key, body: withReason, at: target.at })
    })
  }
}

function passing(check: Check): RuleBody {
  return check.pass.length > 0 ? reading(all(check.pass)) : {}
}

/** Arguments that a tool does not declare say nothing in the original, so they do not here. */
function reading(when: string): RuleBody {
  return { when, extra_args: 'allow' }
}

function all(expressions: readonly string[]): string {
  return expressions.join(' && ')
}

function toApprovalRule(check: Check): RuleBody {
  return check.approvalTimeout === undefined ? {} : { approval: { timeout: check.approvalTimeout } }
}

function limitsOf(check: Check): { limits?: readonly ImportLimit[] } {
  return check.limits.length > 0 ? { limits: check.limits } : {}
}

function reasonOf(check: Check): { reason?: string } {
  return check.reason === undefined ? {} : { reason: check.reason }
}

const NAME_LENGTH_MAX = 190

function uniqueName({ names }: ImportDraft, wanted: string): string {
  const base = wanted.slice(0, NAME_LENGTH_MAX)
  let name = base
  for (let number = names.size + 1; names.has(name); number++) name = `${base} (${number})`
  names.add(name)
  return name
}
