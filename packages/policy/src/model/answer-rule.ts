// What a policy says about answers: which kinds of data are denied, redacted or marked, how long an
// answer may be, which links stay, and where sealed values may go. Rules that match one answer add up,
// so that another rule, or the base policy, only tightens.

import type { DataKind } from '../calls/data-kinds.ts'
import { type Glob, globMatches, parseGlob } from '../language/glob.ts'
import type { CompiledPolicy, NameMap } from './policy.ts'

export interface AnswerRule {
  readonly deny: readonly DataKind[]
  readonly redact: readonly DataKind[]
  readonly mark: readonly DataKind[]
  /** Tools that a redacted secret may be passed on to; undefined if it may go nowhere. */
  readonly seal: readonly string[] | undefined
  readonly maxBytes: number | undefined
  readonly maxTokens: number | undefined
  /** Hosts whose links and images stay; undefined if all do. */
  readonly links: readonly string[] | undefined
}

/** All rules for one answer. */
export interface AnswerPolicy {
  readonly deny: ReadonlySet<DataKind>
  readonly redact: ReadonlySet<DataKind>
  readonly mark: ReadonlySet<DataKind>
  /** A value may go where every list allows it; empty: nowhere. */
  readonly seal: readonly (readonly Glob[])[]
  readonly maxBytes: number
  readonly maxTokens: number
  /** A link stays if every list has its host. */
  readonly links: readonly (readonly string[])[]
}

/** What `protect: strict` adds for every server. Not in `balanced`: an agent could no longer edit a file
 * that holds a key. */
export const STRICT_ANSWERS: AnswerRule = {
  deny: [],
  redact: ['secret', 'card'],
  mark: [],
  seal: undefined,
  maxBytes: undefined,
  maxTokens: undefined,
  links: [],
}

export function combineAnswerRules(rules: readonly AnswerRule[]): AnswerPolicy {
  const all = (field: 'deny' | 'redact' | 'mark') => new Set(rules.flatMap((rule) => rule[field]))
  const least = (field: 'maxBytes' | 'maxTokens') =>
    rules.reduce((least, rule) => Math.min(least, rule[field] ?? least), Number.POSITIVE_INFINITY)
  return {
    deny: all('deny'),
    redact: all('redact'),
    mark: all('mark'),
    seal: rules.flatMap(({ seal }) => (seal === undefined ? [] : [seal.map(parseGlob)])),
    maxBytes: least('maxBytes'),
    maxTokens: least('maxTokens'),
    links: rules.flatMap(({ links }) => (links === undefined ? [] : [links])),
  }
}

/** Whether a sealed value may be opened for a tool. */
export function canOpenFor({ seal }: AnswerPolicy, server: string, tool: string): boolean {
  return (
    seal.length > 0 && seal.every((globs) => globs.some((each) => globMatches(each, server, tool)))
  )
}

/** Whether any answer is filtered: asked for every message. */
export function hasAnswerRules(policy: CompiledPolicy): boolean {
  if (policy.answers.size > 0 && !policy.shadow) return true
  const { base } = policy
  return base !== undefined && base.answers.size > 0 && !base.shadow
}

/** The maps of a policy that are in force for answers: its own, and the base policy's. A document in
 * shadow mode enforces nothing. */
export function answerMaps(policy: CompiledPolicy): NameMap<AnswerRule>[] {
  return [policy, policy.base].flatMap((each) =>
    each === undefined || each.shadow || each.answers.size === 0 ? [] : [each.answers],
  )
}

/** `example.com` is that host, `*.example.com` every host below it. */
export function isHostListed(host: string, hosts: readonly string[]): boolean {
  return hosts.some((each) =>
    each.startsWith('*.') ? host.endsWith(each.slice(1)) : host === each,
  )
}
