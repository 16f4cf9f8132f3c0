// A compiled policy: created by compile.ts, evaluated by the engine. Immutable except for `scopes`,
// which caches the applicable rules of each tool definition.

import type { Action } from '../calls/actions.ts'
import type { AnswerTrust, ArgumentRole, ProtectionLevel } from '../calls/provenance.ts'
import type { Category, KnownTool } from '../calls/tools.ts'
import { type Glob, globMatches, isGlob, isWider, parseGlob } from '../language/glob.ts'
import { memoizeFor } from '../structures/memoize.ts'
import type { AnswerRule } from './answer-rule.ts'
import type { ApplicableRules } from './applicable-rules.ts'
import type { Guardrail, Rule } from './rule.ts'

export type NameSection = 'tools' | 'resources' | 'prompts'

/**
 * A policy that is ready to decide. Made by `compile`; its members are not part of the public API.
 *
 * @example
 * ```ts
 * const { policy } = compile({ file: 'policy.yaml', text })
 * ```
 */
export interface CompiledPolicy {
  readonly name: string
  readonly file: string
  /** Line and column of an offset, both from 1. */
  readonly position: (offset: number) => { readonly line: number; readonly column: number }
  readonly fallback: Action
  readonly shadow: boolean
  readonly categories: ReadonlyMap<Category, Rule>
  readonly methods: ReadonlyMap<string, Rule>
  readonly tools: NameMap<Rule>
  readonly resources: NameMap<Rule>
  readonly prompts: NameMap<Rule>
  /** Sorted by name. */
  readonly guardrails: readonly Guardrail[]
  /** The level of `protect`; the guardrails that it stands for are among `guardrails`. */
  readonly protect?: ProtectionLevel
  /** The document says `quiet: reads`, and so does the base policy if there is one. */
  readonly isQuiet: boolean
  readonly labels: NameMap<readonly string[]>
  /** Whether rules see the labels of this session or of all sessions of the principal. */
  readonly labelScope: 'session' | 'principal'
  readonly classify: NameMap<Category>
  /** The role of arguments that the document declares; it replaces the role that their names suggest. */
  readonly destinations: NameMap<readonly (readonly [path: string, role: ArgumentRole])[]>
  /** The fields of answers whose values no outsider can choose. */
  readonly trust: NameMap<AnswerTrust>
  /** The rules for answers. */
  readonly answers: NameMap<AnswerRule>
  /** The hosts that arguments of a tool may name. */
  readonly egress: NameMap<readonly string[]>
  /** The planted values, by their names. */
  readonly canaries: ReadonlyMap<string, string>
  readonly base?: CompiledPolicy
  readonly scopes: WeakMap<KnownTool, ApplicableRules>
}

/** Planted values of the document and the base policy; a document in shadow mode has none. */
export function listCanaries(policy: CompiledPolicy): ReadonlyMap<string, string> {
  const { base } = policy
  const own = policy.shadow ? NO_CANARIES : policy.canaries
  if (base === undefined || base.shadow || base.canaries.size === 0) return own
  if (own.size === 0) return base.canaries
  return joinCanaries(policy)
}

/** The canaries of a policy and its base policy, one object for each policy: derived values are cached by identity. */
const joinCanaries = memoizeFor(
  ({ base, canaries }: CompiledPolicy): ReadonlyMap<string, string> =>
    new Map([...(base as CompiledPolicy).canaries, ...canaries]),
)

const NO_CANARIES: ReadonlyMap<string, string> = new Map()

/** Every rule and guardrail of the document, in no particular order. */
export function listRules(policy: CompiledPolicy): (Rule | Guardrail)[] {
  const { categories, methods, tools, resources, prompts, guardrails } = policy
  return [
    ...categories.values(),
    ...methods.values(),
    ...tools.values(),
    ...resources.values(),
    ...prompts.values(),
    ...guardrails,
  ]
}

/** The same with those of the base policy. */
export function listAllRules(policy: CompiledPolicy): (Rule | Guardrail)[] {
  return [...listRules(policy), ...(policy.base === undefined ? [] : listRules(policy.base))]
}

/** Takes the pointer of a decision apart: whether the base policy has the rule, and where in its document. */
export function parseRulePointer(rule: string): {
  readonly isOfBase: boolean
  readonly pointer: string
} {
  const isOfBase = rule.startsWith(BASE_PREFIX)
  return { isOfBase, pointer: isOfBase ? rule.slice(BASE_PREFIX.length) : rule }
}

const BASE_PREFIX = 'house:'

/** The longest window of any limit, including the base policy's: how far back history matters. */
export function longestWindowMs(policy: CompiledPolicy): number {
  const windows = listAllRules(policy).flatMap(({ limits }) =>
    limits.map(({ windowMs }) => windowMs),
  )
  return windows.reduce((longest, window) => Math.max(longest, window), 0)
}

/** Values by `<server>/<name>` or glob. */
export class NameMap<T> {
  readonly #exact = new Map<string, T>()
  readonly #globs: { readonly glob: Glob; readonly value: T }[] = []

  constructor(entries: Iterable<readonly [string, T]>) {
    for (const [key, value] of entries) {
      if (isGlob(key)) this.#globs.push({ glob: parseGlob(key), value })
      else this.#exact.set(key, value)
    }
  }

  get size(): number {
    return this.#exact.size + this.#globs.length
  }

  /** Returns all entries sorted by key: the order does not depend on how they were written. */
  entries(): [string, T][] {
    const globs = this.#globs.map(({ glob, value }): [string, T] => [glob.key, value])
    return [...this.#exact, ...globs].sort(([one], [other]) => (one < other ? -1 : 1))
  }

  values(): T[] {
    return [...this.#exact.values(), ...this.#globs.map(({ value }) => value)]
  }

  exact(server: string, name: string): T | undefined {
    return this.#exact.size === 0 ? undefined : this.#exact.get(`${server}/${name}`)
  }

  /** Every glob that matches. */
  globs(server: string, name: string): { readonly glob: Glob; readonly value: T }[] {
    return this.#globs.filter(({ glob }) => globMatches(glob, server, name))
  }

  /** Exact and glob matches together, regardless of precedence. */
  all(server: string, name: string): T[] {
    const exact = this.exact(server, name)
    const globs = this.globs(server, name).map(({ value }) => value)
    return exact === undefined ? globs : [exact, ...globs]
  }
}

/** Splits globs that match one name into those that apply and those wider than another. */
export function narrowest<T extends { readonly glob: Glob }>(
  matching: readonly T[],
): { count: T[]; wider: { glob: T; than: T }[] } {
  const count: T[] = []
  const wider: { glob: T; than: T }[] = []
  for (const one of matching) {
    const than = matching.find((other) => other !== one && isWider(one.glob, other.glob))
    if (than === undefined) count.push(one)
    else wider.push({ glob: one, than })
  }
  return { count, wider }
}
