// A policy text that is being edited, tried on one call that nobody makes, and on the properties that are kept
// beside its document. Reads the file of properties; nothing is written or counted.

import { existsSync, readFileSync } from 'node:fs'
import { basename, dirname, extname, join } from 'node:path'
import { holdsSecret } from '@sluice/guard/inspect-answer'
import type { KnownTool } from '@sluice/policy/calls/tools'
import { UNUSED_LIMITS } from '@sluice/policy/cases/find-call'
import { readProperties } from '@sluice/policy/cases/properties'
import { prove, type ToolProof } from '@sluice/policy/cases/prove'
import { sampleFacts } from '@sluice/policy/cases/sample-facts'
import { decide } from '@sluice/policy/decide/decide'
import { TOOL_CALL } from '@sluice/policy/language/methods'
import type { CompiledPolicy } from '@sluice/policy/model/policy'
import { isObject } from '@sluice/policy/values/json'
import { readJson } from '@sluice/protocol/json/read-json'

/** How the properties beside a document hold under a text. */
export interface PolicyProofs {
  /** The file that they are read from; it need not exist. */
  readonly file: string
  /** Why the file cannot be read, or that it does not exist; else empty. */
  readonly why: string
  readonly properties: readonly ProvedProperty[]
}

export interface ProvedProperty {
  readonly name: string
  /** The worst of its tools; `nothing` if no known tool is one of those that it is about. */
  readonly result: 'proved' | 'refuted' | 'not proved' | 'nothing'
  /** Known tools that it is about. */
  readonly tools: number
  /** Tools for which it is not proved, with the call or the branch that breaks it. */
  readonly against: readonly { readonly tool: string; readonly says: string }[]
}

/** Tools that a property is said to fail for. */
const AGAINST_MAX = 5

/** `properties.yaml` beside `policy.yaml`; another document has a file with its own name in front. */
export function proveDraft(
  policyFile: string,
  policy: CompiledPolicy,
  tools: readonly KnownTool[],
): PolicyProofs {
  const name = basename(policyFile, extname(policyFile))
  const file = join(
    dirname(policyFile),
    name === 'policy' ? 'properties.yaml' : `${name}.properties.yaml`,
  )
  if (!existsSync(file)) return { file, why: 'this file is missing', properties: [] }
  const { properties, problems } = readProperties({ file, text: readFileSync(file, 'utf8') })
  if (properties === undefined) {
    const [first] = problems
    return { file, why: `line ${first?.line} of this file: ${first?.message}`, properties: [] }
  }
  const proofs = properties.map((property) => prove(policy, property, tools))
  return {
    file,
    why: '',
    properties: proofs.map(({ property, result, tools: proved }) => ({
      name: property.name,
      result: proved.length === 0 ? 'nothing' : result,
      tools: proved.length,
      against: proved.flatMap(describeFailure).slice(0, AGAINST_MAX),
    })),
  }
}

function describeFailure(proof: ToolProof): { tool: string; says: string }[] {
  if (proof.result === 'proved') return []
  if (proof.result === 'not proved')
    return [{ tool: proof.tool, says: `${proof.branch}, but no call was found that does this` }]
  const before = (proof.sequence ?? []).map(({ tool }) => tool).join(', then ')
  const args = JSON.stringify(proof.sample.args)
  const says = `${before === '' ? '' : `after ${before}: `}${proof.action} with ${args}`
  return [{ tool: proof.tool, says }]
}

/** A call that is tried. */
export interface TriedCall {
  readonly server: string
  readonly name: string
  readonly principal: string
  /** JSON. */
  readonly args: string
}

/** What would be decided on a tried call, as the first one of a session, with no limit used. */
export interface TriedDecision {
  readonly action: string
  readonly code: string
  readonly reason: string
  readonly rule: string
}

/** Undefined if the arguments are no JSON object. */
export function tryCall(
  policy: CompiledPolicy,
  { server, name, principal, args: text }: TriedCall,
  { tools, nowMs }: { readonly tools: readonly KnownTool[]; readonly nowMs: number },
): TriedDecision | undefined {
  const read = readJson(text)
  const args = read.ok ? read.value : undefined
  if (!isObject(args)) return undefined
  const tool = tools.find(
    ({ definition }) => definition.server === server && definition.name === name,
  )
  const kind = principal === 'local' ? 'local' : 'grant'
  const facts = sampleFacts(tool, {
    principal: { id: principal, kind },
    holdsSecret: holdsSecret(args),
  })
  const now = { wallMs: nowMs, monotonicMs: 0 }
  const call = { server, name, method: TOOL_CALL, args }
  const { action, code, reason, rule } = decide(policy, call, facts, UNUSED_LIMITS, now)
  return { action, code, reason, rule }
}
