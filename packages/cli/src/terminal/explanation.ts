// A decision and its trace as text: what applied, what could not be decided and why, the results of conditions,
// limits with what is left, and the decision with its location in the document.

import { classText } from '@sluice/catalogue/classify/classify'
import type { Action } from '@sluice/policy/calls/actions'
import type { Decision } from '@sluice/policy/calls/decision'
import type { KnownTool } from '@sluice/policy/calls/tools'
import type { TraceStep } from '@sluice/policy/decide/trace'
import { type CompiledPolicy, listRules, parseRulePointer } from '@sluice/policy/model/policy'
import type { JsonObject } from '@sluice/policy/values/json'
import { ACTION_STYLES, type Output, plural, printable, type Style, toJsonLine } from './output.ts'

interface ExplainedCall {
  readonly tool: KnownTool | undefined
  readonly args: JsonObject
  readonly decision: Decision
  readonly trace: readonly TraceStep[]
  readonly shown: boolean
  /** List the guardrails that do not apply, with whole conditions. A pack has dozens of them. */
  readonly isWhole: boolean
}

/** Characters of a condition that are printed, unless the whole is asked for. */
const CONDITION_LENGTH_SHOWN = 400

export class Explanation {
  readonly #policy: CompiledPolicy
  readonly #output: Output
  #isWhole = true

  constructor(policy: CompiledPolicy, output: Output) {
    this.#policy = policy
    this.#output = output
  }

  print(target: string, { tool, args, decision, trace, shown, isWhole }: ExplainedCall): void {
    const { line, bold, dim } = this
    this.#isWhole = isWhole
    line(`${bold(printable(target))}${tool ? dim(`  ${classText(tool)} by the catalogue`) : ''}`)
    if (Object.keys(args).length > 0) line(dim(`  ${toJsonLine(args)}`))
    line()
    const asides = isWhole ? [] : trace.filter(isIdleGuardrail)
    for (const step of trace) if (!asides.includes(step)) this.#step(step)
    if (asides.length > 0)
      line(
        dim(
          `  guardrail  ${plural(asides.length, 'other does', 'others do')} not apply: --all lists them`,
        ),
      )
    this.#decision(decision, shown)
  }

  #step(step: TraceStep): void {
    const { line, dim, action } = this
    switch (step.step) {
      case 'category':
        return line(`  category   ${step.category} ${dim(`(by the ${step.by})`)}`)
      case 'unknown':
        return line(
          `  unknown    the class is a guess; as ${step.category}: ${action(step.action)} ${dim(this.place(step.rule))}`,
        )
      case 'call':
        return line(
          `  call       its arguments make it worse; as ${step.category}: ${action(step.action)} ${dim(this.place(step.rule))}`,
        )
      case 'aside':
        return line(dim(`  aside      ${this.place(step.rule)}: ${printable(step.why)}`))
      case 'default':
        return line(
          `  default    no rule counts: ${action(step.action)} ${dim(this.place('/default'))}`,
        )
      case 'rule':
        line(`  rule       ${this.place(step.rule)}: ${action(step.action)}`)
        return this.#condition(step)
      case 'guardrail':
        line(
          `  guardrail  ${step.matched ? printable(step.name) : dim(printable(step.name))}: ${step.matched ? `applies${step.action ? `, ${action(step.action)}` : ''}` : dim('does not apply')}`,
        )
        return this.#condition(step)
      case 'limit': {
        const state = step.passes
          ? `takes ${step.amount}, ${step.remaining} left before it`
          : `${step.amount} does not fit, ${step.remaining} left${waitText(step.retryAfterMs)}`
        return line(
          `  limit      ${printable(step.limit)}: ${step.passes ? state : this.paint('red', state)} ${dim(this.place(step.rule))}`,
        )
      }
      case 'shadow':
        return line(
          dim(`  shadow     ${this.place(step.rule)} would say ${step.action} (${step.code})`),
        )
      case 'decision':
        return
    }
  }

  #condition(step: { when?: string; result?: string; why?: string }): void {
    if (step.when === undefined) return
    const why = step.why === undefined ? '' : `: ${printable(step.why)}`
    const when = printable(step.when.trim())
    const isCut = !this.#isWhole && when.length > CONDITION_LENGTH_SHOWN
    const shown = isCut ? `${when.slice(0, CONDITION_LENGTH_SHOWN)}… (--all shows it whole)` : when
    this.line(this.dim(`             when ${shown}`))
    this.line(this.dim(`             is ${step.result}${why}`))
  }

  #decision(
    { action, code, rule, reason, retryAfterMs, approvals }: Decision,
    shown: boolean,
  ): void {
    const { line, dim } = this
    line()
    line(`  ${this.action(action)} ${dim(code)}${rule ? dim(`  by ${this.place(rule)}`) : ''}`)
    if (reason !== '') line(`  reason     ${printable(reason)}`)
    if (retryAfterMs > 0) line(`  again     ${waitText(retryAfterMs).replace(/^,/, '')}`)
    const asks = approvals.map(
      (ask) =>
        `${ask.quorum} of ${printable(ask.approvers.join(', ')) || 'any approver'}, within ${ask.timeoutMs / 1_000} s, by ${ask.channels.join(', ')}`,
    )
    // Guardrails of a pack mostly ask for the same.
    for (const ask of new Set(asks)) line(dim(`  approval   ${ask}`))
    line(dim(`  list       ${shown ? 'shown' : 'left out'}`))
  }

  place = (pointer: string) => getRuleLocation(this.#policy, pointer)
  line = (text?: string) => this.#output.line(text)
  paint = (style: Style, text: string) => this.#output.paint(style, text)
  bold = (text: string) => this.paint('bold', text)
  dim = (text: string) => this.paint('dim', text)
  action = (action: Action) => this.paint(ACTION_STYLES[action], action)
}

/** It certainly says nothing about the call. */
function isIdleGuardrail(step: TraceStep): boolean {
  return step.step === 'guardrail' && !step.matched
}

/** The rule's name and `policy.yaml:12`, from its pointer. */
export function getRuleLocation(document: CompiledPolicy, pointer: string): string {
  const { isOfBase, pointer: bare } = parseRulePointer(pointer)
  const policy = isOfBase ? document.base : document
  const rule = policy && listRules(policy).find((candidate) => candidate.pointer === bare)
  if (policy === undefined || rule === undefined) return printable(bare.replace(/^\//, ''))
  const { line } = policy.position(rule.at)
  return `${printable('key' in rule ? rule.key : rule.name)} (${printable(policy.file)}:${line})`
}

function waitText(ms: number): string {
  if (ms === Number.POSITIVE_INFINITY) return ', never: the call alone takes more than the limit'
  return `, in ${Math.ceil(ms / 100) / 10} s`
}
