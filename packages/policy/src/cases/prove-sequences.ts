// Claims over sequences: no sequence of allowed calls, of any length, brings the labels of `after`
// into a session and then breaks the claim. A session only ever gains labels, so the sets of labels
// that it can have are searched, breadth first. The proof takes every condition as possible that
// labels do not settle; a refutation is the shortest sequence of calls that the engine itself
// decides that way, all of one caller.

import type { KnownTool } from '../calls/tools.ts'
import { decide } from '../decide/decide.ts'
import {
  PROVE_CALLERS_MAX,
  PROVE_LABEL_SETS_MAX,
  PROVE_SEQUENCE_TRIES_MAX,
} from '../language/limits.ts'
import type { CompiledPolicy } from '../model/policy.ts'
import { findReads } from '../model/policy-reads.ts'
import { findBranch, findBranchOfClaim, toSubject } from './find-branch.ts'
import { type FoundCall, findCall, UNUSED_LIMITS } from './find-call.ts'
import { type LabelSource, listLabelSources } from './label-sources.ts'
import { CAN_BE_FALSE, CAN_BE_TRUE, getLabelRead, type KnownPart } from './possible-results.ts'
import { isBroken, type Property } from './properties.ts'
import type { ToolProof } from './prove.ts'
import { type FixedFacts, type SampleCall, sampleCallers } from './sample-calls.ts'
import { sampleFacts } from './sample-facts.ts'

/** One allowed call of a sequence. */
export interface SequenceStep {
  /** `<server>/<tool>`, or a method and what it reads. */
  readonly tool: string
  readonly sample: SampleCall
  /** The labels that its answer adds. */
  readonly brings: readonly string[]
}

interface ReachedSet {
  readonly labels: ReadonlySet<string>
  readonly steps: readonly SequenceStep[]
}

type SequenceProperty = Property & { readonly after: readonly string[] }

export function proveSequences(
  policy: CompiledPolicy,
  property: SequenceProperty,
  { covered, tools }: { covered: readonly KnownTool[]; tools: readonly KnownTool[] },
): ToolProof[] {
  const relevant = new Set([...findReads(policy).labels, ...property.after])
  const sources = listLabelSources(policy, tools, relevant)
  const search = new SequenceSearch(policy, property, sources)
  return covered.map((tool) => search.proveTool(tool))
}

class SequenceSearch {
  readonly #policy: CompiledPolicy
  readonly #property: SequenceProperty
  readonly #sources: readonly LabelSource[]
  readonly #possible: readonly ReachedSet[]
  readonly #tries = { left: PROVE_SEQUENCE_TRIES_MAX }
  readonly #concrete = new Map<string, readonly ReachedSet[]>()

  constructor(policy: CompiledPolicy, property: SequenceProperty, sources: readonly LabelSource[]) {
    this.#policy = policy
    this.#property = property
    this.#sources = sources
    this.#possible = this.#reach(possibleStep)
  }

  proveTool(tool: KnownTool): ToolProof {
    const { server, name } = tool.definition
    const id = `${server}/${name}`
    const suspect = this.#findPossible(tool)
    if (suspect === undefined && this.#possible.length <= PROVE_LABEL_SETS_MAX)
      return { tool: id, result: 'proved' }
    const witness = this.#findConcrete(tool)
    if (witness !== undefined) return { tool: id, result: 'refuted', ...witness }
    const branch = suspect ?? `more than ${PROVE_LABEL_SETS_MAX} sets of labels can be reached`
    return { tool: id, result: 'not proved', branch }
  }

  /** A branch that breaks the claim after labels that can be reached, as text. */
  #findPossible(tool: KnownTool): string | undefined {
    const subject = toSubject(this.#policy, tool)
    for (const { labels, steps } of this.#withLabels(this.#possible)) {
      const branch = findBranchOfClaim(subject, this.#property, knowLabels(labels))
      if (branch !== undefined) return [...steps.map((step) => step.tool), branch].join(', then ')
    }
    return undefined
  }

  /** The shortest sequence of calls that breaks the claim, over every caller the rules know. */
  #findConcrete(
    tool: KnownTool,
  ): (FoundCall & { readonly sequence: readonly SequenceStep[] }) | undefined {
    const scopes = this.#sources.flatMap(({ subject }) => subject?.scope ?? [])
    scopes.push(toSubject(this.#policy, tool).scope)
    let best: (FoundCall & { readonly sequence: readonly SequenceStep[] }) | undefined
    let callers = 0
    for (const caller of sampleCallers(scopes)) {
      if (++callers > PROVE_CALLERS_MAX || this.#tries.left < 0) break
      for (const { labels, steps } of this.#withLabels(this.#reachAs(caller))) {
        if (best !== undefined && best.sequence.length <= steps.length) break
        const witness = findCall(this.#policy, tool, {
          isWanted: isBroken(this.#property),
          claim: this.#property,
          fixed: { ...caller, saw: [...labels] },
          tries: this.#tries,
        })
        if (witness !== undefined) best = { ...witness, sequence: steps }
      }
    }
    return best
  }

  #withLabels(reached: readonly ReachedSet[]): ReachedSet[] {
    return reached.filter(({ labels }) => this.#property.after.every((label) => labels.has(label)))
  }

  #reachAs(caller: Omit<FixedFacts, 'saw'>): readonly ReachedSet[] {
    const key = JSON.stringify(caller)
    const reached =
      this.#concrete.get(key) ??
      this.#reach((source, labels) =>
        concreteStep(this.#policy, source, { ...caller, saw: [...labels] }, this.#tries),
      )
    this.#concrete.set(key, reached)
    return reached
  }

  /** Every set of labels that allowed calls lead to, the shortest way first. */
  #reach(
    step: (source: LabelSource, labels: ReadonlySet<string>) => SampleCall | undefined,
  ): readonly ReachedSet[] {
    const reached = new Map<string, ReachedSet>([['', { labels: new Set(), steps: [] }]])
    for (const { labels, steps } of reached.values()) {
      for (const source of this.#sources) {
        const gains = source.brings.filter((brought) => brought.some((one) => !labels.has(one)))
        const sample = gains.length === 0 ? undefined : step(source, labels)
        if (sample === undefined) continue
        for (const brings of gains) {
          const next = new Set([...labels, ...brings])
          const key = [...next].sort().join()
          if (!reached.has(key))
            reached.set(key, {
              labels: next,
              steps: [...steps, { tool: source.id, sample, brings }],
            })
        }
      }
      if (reached.size > PROVE_LABEL_SETS_MAX) break
    }
    return [...reached.values()]
  }
}

const NO_SAMPLE: SampleCall = { args: {}, facts: {}, nowMs: 0 }

function possibleStep(
  { subject }: LabelSource,
  labels: ReadonlySet<string>,
): SampleCall | undefined {
  if (subject === undefined) return NO_SAMPLE
  return findBranch(subject, isAllow, { known: knowLabels(labels) }) === undefined
    ? undefined
    : NO_SAMPLE
}

function concreteStep(
  policy: CompiledPolicy,
  { tool, call }: LabelSource,
  fixed: FixedFacts,
  tries: { left: number },
): SampleCall | undefined {
  if (tool !== undefined) return findCall(policy, tool, { isWanted: isAllow, fixed, tries })?.sample
  const { saw, ...caller } = fixed
  const facts = { ...caller, session: { saw } }
  const now = { wallMs: 0, monotonicMs: 0 }
  const { action } = decide(policy, call, sampleFacts(undefined, facts), UNUSED_LIMITS, now)
  return isAllow(action) ? { args: {}, facts, nowMs: 0 } : undefined
}

const isAllow = (action: string) => action === 'allow'

function knowLabels(labels: ReadonlySet<string>): KnownPart {
  return (node, expression) => {
    const label = getLabelRead(node, expression)
    if (label === undefined) return undefined
    return labels.has(label) ? CAN_BE_TRUE : CAN_BE_FALSE
  }
}
