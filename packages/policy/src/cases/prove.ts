// Checks a property over every known tool and every branch of every rule: with all branches
// considered possible, can it be violated? If not, it is proved. If so, a concrete call that
// violates it is searched for: if one is found, the property is refuted and the call shown,
// otherwise the branch is named. Limits are assumed not to be reached. Claims on what comes after a
// label are in prove-sequences.ts.

import type { KnownTool } from '../calls/tools.ts'
import { getRulesForTool } from '../decide/resolve.ts'
import { globMatches, wildcardMatches } from '../language/glob.ts'
import { PROVE_TRIES_MAX } from '../language/limits.ts'
import type { CompiledPolicy } from '../model/policy.ts'
import { findBranchOfClaim, toSubject } from './find-branch.ts'
import { type FoundCall, findCall } from './find-call.ts'
import { isBroken, type Property } from './properties.ts'
import { proveSequences, type SequenceStep } from './prove-sequences.ts'

export type ToolProof =
  | { readonly tool: string; readonly result: 'proved' }
  | ({
      readonly tool: string
      readonly result: 'refuted'
      /** If the claim has `after`: the calls before this one, all of them allowed. */
      readonly sequence?: readonly SequenceStep[]
    } & FoundCall)
  | { readonly tool: string; readonly result: 'not proved'; readonly branch: string }

export interface PropertyProof {
  readonly property: Property
  /** The worst of its tools. */
  readonly result: 'proved' | 'refuted' | 'not proved'
  readonly tools: readonly ToolProof[]
}

export function prove(
  policy: CompiledPolicy,
  property: Property,
  tools: readonly KnownTool[],
): PropertyProof {
  const covered = listCovered(policy, property, tools)
  const { after } = property
  const proofs =
    after === undefined
      ? covered.map((tool) => proveTool(policy, property, tool))
      : proveSequences(policy, { ...property, after }, { covered, tools })
  const result = proofs.some((proof) => proof.result === 'refuted')
    ? 'refuted'
    : proofs.some((proof) => proof.result === 'not proved')
      ? 'not proved'
      : 'proved'
  return { property, result, tools: proofs }
}

/** The tools that a property is about. */
export function listCovered(
  policy: CompiledPolicy,
  property: Property,
  tools: readonly KnownTool[],
): KnownTool[] {
  return tools.filter((tool) => appliesTo(policy, property, tool))
}

function appliesTo(policy: CompiledPolicy, property: Property, tool: KnownTool): boolean {
  const { server, name } = tool.definition
  const { category, classified } = getRulesForTool(policy, tool)
  // A guess counts as any category and any risk, unless the document classifies the tool.
  const open = tool.unknown === true && !classified
  if (property.categories && !open && !property.categories.includes(category)) return false
  if (property.risks && !open && !property.risks.includes(tool.risk)) return false
  if (property.servers && !property.servers.some((pattern) => wildcardMatches(pattern, server)))
    return false
  return (
    property.tools === undefined || property.tools.some((glob) => globMatches(glob, server, name))
  )
}

function proveTool(policy: CompiledPolicy, property: Property, tool: KnownTool): ToolProof {
  const { server, name } = tool.definition
  const id = `${server}/${name}`
  const branch = findBranchOfClaim(toSubject(policy, tool), property)
  if (branch === undefined) return { tool: id, result: 'proved' }
  const witness = findCall(policy, tool, {
    isWanted: isBroken(property),
    claim: property,
    tries: { left: PROVE_TRIES_MAX },
  })
  if (witness === undefined) return { tool: id, result: 'not proved', branch }
  return { tool: id, result: 'refuted', ...witness }
}
