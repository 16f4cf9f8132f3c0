// What can bring labels into a session, for proofs over sequences: the answers of tools, and what is
// read without a tool (lists of resources, resources, prompts). The guard's own labels can come with
// any answer.

import type { Call } from '../calls/call.ts'
import type { KnownTool } from '../calls/tools.ts'
import { resolveRules } from '../decide/resolve.ts'
import { globMatches, parseGlob, wildcardMatches } from '../language/glob.ts'
import { TOOL_CALL } from '../language/methods.ts'
import type { CompiledPolicy } from '../model/policy.ts'
import { type ProofSubject, toSubject } from './find-branch.ts'
import { sampleFacts } from './sample-facts.ts'

/** A call whose answer can bring labels. */
export interface LabelSource {
  /** `<server>/<tool>`, or a method and what it reads. */
  readonly id: string
  readonly call: Call
  readonly tool?: KnownTool
  /** Undefined: it passes, or rules by name may let it pass. */
  readonly subject?: ProofSubject
  /** Each set of labels that one answer can bring. */
  readonly brings: readonly (readonly string[])[]
}

/** Labels that the guard sets: any answer can bring them, or not. */
export const GUARD_LABELS = ['injection', 'secret']

/** Only labels of `relevant` are followed: those that a rule reads or the claim names. */
export function listLabelSources(
  policy: CompiledPolicy,
  tools: readonly KnownTool[],
  relevant: ReadonlySet<string>,
): LabelSource[] {
  const servers = [...new Set(tools.map(({ definition }) => definition.server))]
  const calls = [
    ...tools.map(({ definition: { server, name } }, index) => ({
      call: { server, name, method: TOOL_CALL, args: {} },
      tool: tools[index] as KnownTool,
      labels: policy.labels.all(server, name).flat(),
    })),
    ...servers.flatMap((server) => listOtherCalls(policy, server, tools)),
  ]
  return calls.flatMap((one): LabelSource[] => {
    const brings = listGains(one.labels, relevant)
    if (brings.length === 0) return []
    const { server, method, name } = one.call
    if ('tool' in one)
      return [{ ...one, id: `${server}/${name}`, subject: toSubject(policy, one.tool), brings }]
    return [
      {
        call: one.call,
        id: `${method} ${server}/${name}`,
        ...toMethodSubject(policy, one.call),
        brings,
      },
    ]
  })
}

function listGains(found: readonly string[], relevant: ReadonlySet<string>): string[][] {
  const labels = [...new Set(found)].filter((label) => relevant.has(label))
  const sets = [labels]
  for (const label of GUARD_LABELS)
    if (relevant.has(label) && !labels.includes(label))
      sets.push(...sets.map((set) => [...set, label]))
  return sets.filter((set) => set.length > 0)
}

/** A key of `labels` that matches no known tool stands for resources (with a scheme) or prompts. */
function listOtherCalls(
  { labels }: CompiledPolicy,
  server: string,
  tools: readonly KnownTool[],
): { readonly call: Call; readonly labels: readonly string[] }[] {
  const ofServer = labels.all(server, '').flat()
  const named = labels
    .entries()
    .map(([key]) => parseGlob(key))
    .filter(
      (glob) =>
        wildcardMatches(glob.server, server) &&
        !tools.some(({ definition: one }) => globMatches(glob, one.server, one.name)),
    )
    .map((glob) => glob.name.replace(/[*?]/g, 'x'))
  return ['', ...named].map((name) => {
    const method =
      name === '' ? 'resources/list' : name.includes(':') ? 'resources/read' : 'prompts/get'
    return {
      call: { server, method, name, args: {} },
      labels: [...ofServer, ...(name === '' ? [] : labels.all(server, name).flat())],
    }
  })
}

function toMethodSubject(policy: CompiledPolicy, call: Call): { readonly subject?: ProofSubject } {
  // A rule on some of the names says nothing of the others.
  if (policy.resources.size + policy.prompts.size > 0) return {}
  const facts = sampleFacts(undefined)
  const scope = resolveRules(policy, call, facts)
  return typeof scope === 'string' ? {} : { subject: { policy, call, facts, scope } }
}
