// What a model can do after a refusal: when to try again, and, if the policy's author gave no reason,
// what else may pass. Tells nothing that the caller could not find out by calling. Called by replies.ts
// and refuse-call.ts.

import { waitText } from '@sluice/access/identity/wait-text'
import type { Decision } from '@sluice/policy/calls/decision'
import { argumentPaths } from '@sluice/policy/decide/collect-inputs'
import { pathText } from '@sluice/policy/language/argument-path'
import { type CompiledPolicy, listRules, parseRulePointer } from '@sluice/policy/model/policy'
import type { Guardrail, Rule } from '@sluice/policy/model/rule'
import { isHookClient } from '../hooks/clients/table.ts'
import { ADVICE_NAMES_MAX } from '../session/limits.ts'

/** `try again in 20 s`; undefined if waiting changes nothing. */
export function adviseWait({ code, retryAfterMs }: DecisionWait): string | undefined {
  if (!PASSES_LATER.has(code)) return undefined
  if (retryAfterMs === Number.POSITIVE_INFINITY)
    return 'waiting does not help: this call alone takes more than the limit, so ask for less'
  return retryAfterMs > 0 ? `try again in ${waitText(retryAfterMs)}` : undefined
}

const PASSES_LATER: ReadonlySet<string> = new Set([
  'RATE_LIMITED',
  'SPEND_LIMITED',
  'GATE_UNAVAILABLE',
])

type DecisionWait = Pick<Decision, 'code' | 'retryAfterMs'>

export interface AdviceContext {
  readonly decision: Decision
  readonly policy: CompiledPolicy
  /** The server of the call. */
  readonly server: string
  /** This caller may see what the rule says. */
  readonly explain: boolean
  /** Tools of the same server that this caller may call, most similar first. */
  readonly alternatives: () => readonly string[]
}

/** Advises the caller after a denial by a rule without a reason; undefined if the reason is enough. */
export function adviseCaller(context: AdviceContext): string | undefined {
  const { decision, policy } = context
  const { code, rule, isAdvice } = decision
  if (code !== 'DENIED' || isAdvice === true) return undefined
  if (rule === '/default') return joinAdvice([nameAlternatives(context), adviseUser(context)])
  const source = findRule(policy, rule)
  if (source === undefined || source.reason !== '') return undefined
  return joinAdvice([adviseArguments(source, context), nameAlternatives(context), ASK])
}

const ASK = 'if the task needs it, ask the user to change the policy'

/** A client's own tools have no rules until the pack for them is added. */
function adviseUser({ policy, server }: AdviceContext): string {
  const isOfClient = isHookClient(server)
  const hasRules = listRules(policy).some(
    (rule) => 'key' in rule && rule.key.startsWith(`${server}/`),
  )
  if (!isOfClient || hasRules) return ASK
  return `if the task needs it, ask the user to run \`sluice policy add coding-agent --server ${server}\``
}

function joinAdvice(parts: readonly (string | undefined)[]): string {
  return parts.filter((part) => part !== undefined).join('; ')
}

function findRule(policy: CompiledPolicy, rule: string): Rule | Guardrail | undefined {
  const { isOfBase, pointer } = parseRulePointer(rule)
  const document = isOfBase ? policy.base : policy
  return document && listRules(document).find((one) => one.pointer === pointer)
}

/** Which arguments matter; the condition itself only for a caller that the policy is explained to. */
function adviseArguments(rule: Rule | Guardrail, { explain }: AdviceContext): string {
  const names = new Set(argumentPaths({ ...rule, limits: [] }).map(pathText))
  if (rule.when === undefined || names.size === 0) return 'other arguments make no difference'
  const { text } = rule.when.expression
  const isWanted = 'key' in rule && (rule.action === 'allow' || rule.action === 'require_approval')
  if (explain) return `it may pass ${isWanted ? 'if' : 'unless'} \`${text.trim()}\``
  const list = [...names].slice(0, ADVICE_NAMES_MAX).map((name) => `\`${name}\``)
  return `it may pass with another ${list.join(', ')}`
}

function nameAlternatives({ alternatives }: AdviceContext): string | undefined {
  const names = alternatives()
  if (names.length === 0) return undefined
  return `you may call ${names.map((name) => `\`${name}\``).join(', ')}`
}
