// What the playground shows: the decision on a call with its explanation, as `sluice policy explain` prints
// it, and what `sluice policy prove` says of properties. The same code, in the browser.

import { type KnownTool, type ToolDefinition, toToolId } from '@sluice/policy/calls/tools'
import { type Property, readProperties } from '@sluice/policy/cases/properties'
import { type PropertyProof, prove } from '@sluice/policy/cases/prove'
import { sampleFacts, splitServerAndName } from '@sluice/policy/cases/sample-facts'
import { compile } from '@sluice/policy/compile/compile'
import { MemoryCounters } from '@sluice/policy/counters/memory-counters'
import { decide, isVisible } from '@sluice/policy/decide/decide'
import type { TraceStep } from '@sluice/policy/decide/trace'
import type { Problem } from '@sluice/policy/document/problem'
import { TOOL_CALL } from '@sluice/policy/language/methods'
import type { CompiledPolicy } from '@sluice/policy/model/policy'
import type { JsonObject } from '@sluice/policy/values/json'
import { classify } from '../../packages/catalogue/src/classify/classify.ts'
import { classifyCall } from '../../packages/catalogue/src/classify/classify-call.ts'
import { Explanation } from '../../packages/cli/src/terminal/explanation.ts'
import { Output } from '../../packages/cli/src/terminal/output.ts'

export interface PlaygroundInput {
  readonly policy: string
  /** A JSON array of definitions with `server`. */
  readonly tools: string
  /** `{ "tool": "server/name", "args": {} }` as JSON. */
  readonly call: string
  /** A document of properties; none if empty. */
  readonly properties: string
}

export interface PlaygroundResult {
  readonly decision: string
  readonly proofs: string
}

export function explain(input: PlaygroundInput): PlaygroundResult {
  const { policy, problems } = compile({ file: 'policy.yaml', text: input.policy })
  if (policy === undefined) return { decision: describeProblems(problems), proofs: '' }
  try {
    const tools = readTools(input.tools)
    return {
      decision: explainCall(policy, tools, input.call),
      proofs: proveAll(policy, tools, input.properties),
    }
  } catch (error) {
    return { decision: (error as Error).message, proofs: '' }
  }
}

class Lines extends Output {
  readonly #lines: string[] = []

  constructor() {
    super({})
  }

  override line(text = ''): void {
    this.#lines.push(text)
  }

  override paint(_style: unknown, text: string): string {
    return text
  }

  get text(): string {
    return this.#lines.join('\n')
  }
}

function explainCall(policy: CompiledPolicy, tools: readonly KnownTool[], text: string): string {
  const { tool: id, args = {} } = parse(text, 'the call') as { tool?: unknown; args?: JsonObject }
  const parts = typeof id === 'string' ? splitServerAndName(id) : undefined
  if (parts === undefined)
    throw new Error('the call has no `tool`: write `{ "tool": "server/name", "args": {} }`')
  const tool = tools.find((one) => toToolId(one) === id) ?? toKnown(parts)
  const call = { ...parts, method: TOOL_CALL, args }
  const callCategory = classifyCall(tool, args)
  const facts = sampleFacts(tool, callCategory === undefined ? {} : { callCategory })
  const trace: TraceStep[] = []
  const now = { wallMs: Date.now(), monotonicMs: 0 }
  const decision = decide(policy, call, facts, new MemoryCounters(), now, trace)
  const output = new Lines()
  const shown = isVisible(policy, call, facts, now)
  new Explanation(policy, output).print(String(id), {
    tool,
    args,
    decision,
    trace,
    shown,
    isWhole: true,
  })
  return output.text
}

function proveAll(policy: CompiledPolicy, tools: readonly KnownTool[], text: string): string {
  if (text.trim() === '') return ''
  const { properties, problems } = readProperties({ file: 'properties.yaml', text })
  if (properties === undefined) return describeProblems(problems)
  return properties
    .map((property: Property) => describeProof(prove(policy, property, tools)))
    .join('\n')
}

function describeProof({ property, result, tools }: PropertyProof): string {
  const lines = [
    `${result.padEnd(10)}  ${property.name} (${tools.length} ${tools.length === 1 ? 'tool' : 'tools'})`,
  ]
  for (const proof of tools) {
    if (proof.result === 'refuted')
      lines.push(`  ${proof.tool} ${JSON.stringify(proof.sample.args)}: ${proof.action}`)
    if (proof.result === 'not proved') lines.push(`  ${proof.tool}: ${proof.branch}`)
  }
  return lines.join('\n')
}

function readTools(text: string): KnownTool[] {
  const list = text.trim() === '' ? [] : parse(text, 'the tools')
  if (!Array.isArray(list))
    throw new Error('the tools are not an array: write `[{ "server": "…", "name": "…" }]`')
  return list.map((one: Partial<ToolDefinition>, at) => {
    if (typeof one?.server !== 'string' || typeof one.name !== 'string')
      throw new Error(`tool ${at + 1} has no \`server\` or no \`name\`: both are texts`)
    return toKnown(one as ToolDefinition)
  })
}

function toKnown(definition: ToolDefinition): KnownTool {
  return { definition, ...classify(definition) }
}

function parse(text: string, what: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new Error(`${what}: not JSON: ${(error as Error).message}`)
  }
}

function describeProblems(problems: readonly Problem[]): string {
  return problems
    .map(
      ({ file, line, column, severity, message, help }) =>
        `${file}:${line}:${column}: ${severity}: ${message}\n  help: ${help}`,
    )
    .join('\n')
}
