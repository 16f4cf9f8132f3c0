// What a page says of a tool beyond its definition: how agents use such a tool, what to do about it, the
// ways to rule it, and what an agent receives whose call is denied. By class, in terms of this tool's
// arguments. Pure.

import type { Category, ToolDefinition } from '@sluice/policy/calls/tools'
import { getOwn, isObject } from '@sluice/policy/values/json'
import { EXPORTS_STATE, LISTS_TASKS } from '../attacks/attack-indicators.ts'
import { argumentExpression, steeredArguments } from '../attacks/link-attacks.ts'
import { CLASS_TEXTS } from '../classify/class-texts.ts'
import type { Evidence } from '../classify/evidence.ts'
import { argumentsOf } from '../classify/flows.ts'
import { propertiesOf } from '../signals/schema-properties.ts'
import type { AssessmentWithAttacks } from './assessment-cache.ts'
import { ownRule } from './suggest-policy.ts'

/** Tools that tell how far something is. */
const TELLS_STATE = /(?:^|_)is_|(?:^|_)(?:status|progress|turn_count)$/i

/** What a tool is used for by what it is about, if its class says too little. */
const USED_BY_NAME: readonly (readonly [name: RegExp, used: string])[] = [
  [
    EXPORTS_STATE,
    'An agent calls it to save or hand over a whole state: usually once, at the end of a task or before a risky step.',
  ],
  [
    TELLS_STATE,
    'An agent polls it while something else runs, often every few seconds, and goes on when the answer changes.',
  ],
  [
    LISTS_TASKS,
    'An agent calls it to see what is planned and how far it is, before it goes on or reports.',
  ],
]

/** Whether the strongest words of a definition tell that the tool hands work to another agent. */
function drivesAgent(evidence: readonly Evidence[]): boolean {
  const kind = evidence[0]?.kind
  return kind === 'drives an agent' || kind === 'prompts an agent'
}

/** How agents come to call it. */
export function usageOf(
  { name }: ToolDefinition,
  { category, depends, flows, evidence }: AssessmentWithAttacks,
): string {
  const program = depends.find(({ kind }) => kind === 'program' || kind === 'sql')
  if (program !== undefined && category === 'Execute')
    return `An agent writes \`${program.argument}\` itself, reads the output and writes the next one, often several times in a task.`
  if (category === 'Execute' && drivesAgent(evidence))
    return 'An agent calls it to hand over a part of its task, and goes on with what the other agent answers.'
  if (category === 'Write' && flows.sends === 'outside')
    return 'An agent calls it to report to somebody or to answer them, usually at the end of a task and in the name of its user.'
  const isRead = category === 'Read' || category === 'Write'
  const fitting = isRead ? USED_BY_NAME.find(([pattern]) => pattern.test(name)) : undefined
  return fitting?.[1] ?? CLASS_TEXTS[category].used
}

/** What to do about it. A line that needs an argument, a label or another tool is left out without one. */
export function adviceFor(
  definition: ToolDefinition,
  assessment: AssessmentWithAttacks,
  neighbours: readonly ToolDefinition[],
): string[] {
  const own = ownRule(definition, assessment)
  if (own?.action === 'hide')
    return [`Hide it until somebody has read its definition (${own.because}).`]
  const lines = BY_CLASS[assessment.category]({
    steered: steeredArguments(assessment.category, definition)[0],
    amount: amountOf(definition, assessment),
    labels: assessment.flows.reads
      .filter((label) => label !== 'public')
      .map((label) => `\`${label}\``),
    program: assessment.depends.find(({ kind }) => kind === 'program')?.argument,
    isDecidable: assessment.depends.some(({ kind }) => kind !== 'program'),
    readsSecrets: assessment.category === 'Read' && assessment.risk !== 'low',
    tellsState: TELLS_STATE.test(definition.name),
    drivesAgent: drivesAgent(assessment.evidence),
    reversible: neighbours.filter((other) => isReversible(other, definition)),
  })
  const skip = argumentsOf(definition).find((name) => SAFEGUARD.test(name))
  if (skip !== undefined && assessment.category !== 'Read')
    lines.push(`Ask or deny if \`${skip}\` is set: it switches off a safeguard of the server.`)
  return lines.filter((line) => line !== '')
}

interface AdviceInput {
  readonly steered: string | undefined
  readonly amount: string | undefined
  readonly labels: readonly string[]
  readonly program: string | undefined
  /** An argument tells the class of the call. */
  readonly isDecidable: boolean
  readonly readsSecrets: boolean
  /** It tells how far something is, and nothing else worth a label. */
  readonly tellsState: boolean
  readonly drivesAgent: boolean
  readonly reversible: readonly ToolDefinition[]
}

const BY_CLASS: Readonly<Record<Category, (input: AdviceInput) => string[]>> = {
  Read: ({ labels, readsSecrets, tellsState }) => [
    readsSecrets
      ? 'It can return secrets: let a person approve every call.'
      : tellsState
        ? 'Allow it. A limit (below) has to leave room for an agent that asks every few seconds.'
        : 'Allow it; add a limit (below) if one session must not read everything.',
    labels.length === 0 || tellsState
      ? ''
      : `Label its results (${labels.join(', ')}), so that guardrails can hold back what leaves afterwards.`,
  ],
  Write: ({ steered, amount }) => [
    'Allow it at the pace of a person.',
    amount !== undefined
      ? `Bound the amount: \`when: ${argumentExpression(amount)} <= 100\`, with the number that you can accept.`
      : steered !== undefined
        ? `Restrict what it may touch by its arguments (\`when\`, for example on \`${argumentExpression(steered)}\`) instead of trusting the agent.`
        : '',
    'Let a person approve it once the session has read untrusted text.',
  ],
  Execute: ({ program, isDecidable, drivesAgent }) => [
    isDecidable
      ? 'Let calls that only read pass (`when: call.category == "Read"`), and let a person approve the rest.'
      : 'Let a person approve it until you know what your agents run.',
    program === undefined
      ? ''
      : `Then allow the values of \`${program}\` that you know, and ask for all others.`,
    drivesAgent ? 'Let the other agent call its tools through the gate as well.' : '',
    'Give its server no more rights than the task needs: the gate does not see what runs behind it.',
  ],
  Destructive: ({ reversible }) => [
    'Let a person approve every call, and allow only a few a minute.',
    reversible.length === 0
      ? ''
      : `Allow ${reversible
          .slice(0, REVERSIBLE_SHOWN_MAX)
          .map(({ name }) => `\`${name}\``)
          .join(' or ')} instead, which can be undone, and hide this one.`,
    'Keep a backup that the same agent cannot reach.',
  ],
  Financial: ({ amount }) => [
    'Let a person approve every call, and name who may (`approvers`).',
    amount === undefined
      ? ''
      : `Limit the sum of \`${amount}\` over time (\`spend_limit\`), as below.`,
    'Give agents an account of their own, with a limit at the bank or exchange as well.',
  ],
}

const REVERSIBLE_SHOWN_MAX = 2
const SAFEGUARD =
  /^(?:skip|no|bypass|disable|ignore)_?(?:confirm|check|verif|valid|prompt|safety)\w*$|^force$|^auto_?(?:approve|confirm)$/i
const DELETES = /delete|remove|destroy|purge|drop/i
const REVERSIBLE = /archive|trash|disable|deactivate|suspend/i

/** `trash_file` for `delete_file`: the same name but for the verb. */
function isReversible({ name }: ToolDefinition, { name: own }: ToolDefinition): boolean {
  const object = own.replace(DELETES, '').toLowerCase()
  return (
    DELETES.test(own) &&
    REVERSIBLE.test(name) &&
    name.replace(REVERSIBLE, '').toLowerCase() === object
  )
}

/** The argument that says how much, if it is a plain number: limits cannot add up objects. */
function amountOf(
  definition: ToolDefinition,
  { category, attacks }: AssessmentWithAttacks,
): string | undefined {
  const name =
    category === 'Financial'
      ? attacks.find(({ id }) => id === 'A22')?.argument
      : argumentsOf(definition).find((argument) => AMOUNT.test(argument))
  const property = getOwn(propertiesOf(definition.inputSchema), name ?? '')
  const types = category === 'Financial' ? ['number', 'integer', 'string'] : ['number', 'integer']
  return isObject(property) && types.includes(String(property.type)) ? name : undefined
}

const AMOUNT = /(?:^|_)(?:amount|amt|price|budget|discount)(?:_off)?$|(?:Amount|Amt|Price|Budget)$/

/** The ways to rule a tool beside a limit: what they are called, the rule, and what happens. */
export const WAYS: readonly (readonly [way: string, rule: string, says: string])[] = [
  ['Allow', '{ action: allow }', 'every call passes'],
  ['Approve', '{ action: require_approval }', 'a person decides on each call before it is sent'],
  [
    'Deny',
    '{ action: deny, reason: not for agents }',
    'no call passes, and the agent is told the reason',
  ],
  ['Hide', 'hide', 'no call passes, and the tool is in no list'],
]

export interface ToolLimit {
  /** What passes. */
  readonly says: string
  /** The rule as the document writes it. */
  readonly rule: string
}

/** A limit that fits the tool: on the sum if it moves money, on calls otherwise. */
export function limitFor(definition: ToolDefinition, assessment: AssessmentWithAttacks): ToolLimit {
  const amount = assessment.category === 'Financial' ? amountOf(definition, assessment) : undefined
  if (amount === undefined)
    return {
      says: 'ten calls a minute pass, counted per session unless `per` says otherwise',
      rule: '{ action: allow, rate_limit: { max: 10, window: 60 } }',
    }
  return {
    says: `calls pass up to a sum of \`${amount}\` a day`,
    rule: `{ action: allow, spend_limit: { amount: ${quoteExpression(amount)}, max: 100, window: 1d, per: principal } }`,
  }
}

/** In a flow mapping an index needs quotes. */
function quoteExpression(argument: string): string {
  const expression = argumentExpression(argument)
  return expression.includes('[') ? `'${expression.replaceAll("'", "''")}'` : expression
}

/** The gate's answer to a call that a rule denies. */
export function denialOf(reason: string, definition: ToolDefinition): string {
  const details = { decision: 'deny', code: 'DENIED', reason, callId: '…' }
  const answer = {
    content: [{ type: 'text', text: `denied by policy: ${reason}` }],
    isError: true,
    ...(hasStructuredDenial(definition)
      ? { structuredContent: { sluice: details } }
      : { _meta: { 'sluice/decision': details } }),
  }
  return JSON.stringify(answer, null, 2)
}

/** Clients check structured content against the output schema, even in an error. */
export function hasStructuredDenial({ outputSchema }: ToolDefinition): boolean {
  return outputSchema === undefined
}
