// Whether a changed document only tightens. Sound and incomplete: the result is empty only if for
// every call, caller and history the new document decides on an action at least as strong and every
// limit is at least as narrow. A change that cannot be proved stricter by syntax is treated as
// looser. A test checks this against the engine with generated documents. Called on reload and by
// `apply`.

import type { Action } from '../calls/actions.ts'
import { type Glob, globMatches, parseGlob } from '../language/glob.ts'
import { CONTENT_METHODS } from '../language/methods.ts'
import { type CompiledPolicy, NameMap, type NameSection } from '../model/policy.ts'
import type { Guardrail, Rule } from '../model/rule.ts'
import { runSteps, type Steps } from '../structures/steps.ts'
import { escapePointer } from '../values/json-pointer.ts'
import { answersLoosen } from './compare-answers.ts'
import {
  guardrailLoosens,
  isAtLeast,
  isFree,
  isSame,
  isShut,
  listPossibleActions,
  ruleLoosens,
  strongest,
  weakest,
} from './compare-rules.ts'

export interface Loosening {
  /** JSON Pointer, or the name of a guardrail. */
  readonly where: string
  readonly what: string
}

/** What is, or may be, looser in the new document. */
export function loosenings(old: CompiledPolicy, now: CompiledPolicy): Loosening[] {
  return runSteps(compareSteps(old, now))
}

/** Compares like `loosenings`, with a pause after each rule. */
export function* compareSteps(old: CompiledPolicy, now: CompiledPolicy): Steps<Loosening[]> {
  const loosenings: Loosening[] = []
  for (const part of ['labels', 'classify', 'destinations', 'trust'] as const)
    if (!isSame(old[part].entries(), now[part].entries()))
      loosenings.push({ where: `/${part}`, what: ELSEWHERE })
  if (now.isQuiet && !old.isQuiet)
    loosenings.push({ where: '/quiet', what: 'the gate answers questions in the place of users' })
  if (old.labelScope !== now.labelScope) loosenings.push({ where: '/label_scope', what: ELSEWHERE })
  loosenings.push(...ofData(old, now), ...ofBase(old.base, now.base))
  // A document in shadow enforces nothing.
  if (old.shadow) return loosenings
  if (now.shadow) return [...loosenings, { where: '/mode', what: 'nothing is enforced any longer' }]
  if (!isAtLeast(now.fallback, old.fallback))
    loosenings.push({ where: '/default', what: `\`${old.fallback}\` becomes \`${now.fallback}\`` })
  loosenings.push(...ofGuardrails(enforced(old.guardrails), enforced(now.guardrails), ''))
  for (const section of ['tools', 'resources', 'prompts'] as const)
    loosenings.push(...(yield* ofNames(section, old, now)))
  loosenings.push(...(yield* ofCategories(old, now)), ...(yield* ofMethods(old, now)))
  return loosenings
}

const ELSEWHERE = 'is another, which may open something elsewhere'

const NO_DATA: Pick<CompiledPolicy, DataSection> = {
  answers: new NameMap([]),
  egress: new NameMap([]),
  canaries: new Map(),
}

type DataSection = 'answers' | 'egress' | 'canaries'

/** Answers, egress and canaries. A document without hosts or canaries is only tightened by them. */
function ofData(
  old: Pick<CompiledPolicy, DataSection>,
  now: Pick<CompiledPolicy, DataSection>,
): Loosening[] {
  const what = 'is another, which may let more through'
  const others = (['egress', 'canaries'] as const)
    .filter((part) => !isSame([...old[part].entries()], [...now[part].entries()]))
    .filter((part) => old[part].size > 0)
    .map((part) => ({ where: `/${part}`, what }))
  const ofAnswers = answersLoosen(old.answers, now.answers).map(({ key, what }) => ({
    where: `/answers/${escapePointer(key)}`,
    what,
  }))
  return [...ofAnswers, ...others]
}

/** Shadow rules count as absent. */
function enforced<T extends Rule | Guardrail>(rules: Iterable<T>): T[] {
  return [...rules].filter(({ shadow }) => !shadow)
}

function ofBase(
  old: CompiledPolicy | undefined,
  now: CompiledPolicy | undefined,
): readonly Loosening[] {
  const rulesOf = (base: CompiledPolicy | undefined) =>
    base === undefined || base.shadow ? [] : enforced(base.guardrails)
  const data = old === undefined || old.shadow ? [] : ofData(old, now ?? { ...old, ...NO_DATA })
  // What they say of tools holds for the guardrails of the base policy: its `protect` reads them.
  for (const part of ['labels', 'destinations', 'trust'] as const)
    if (
      old !== undefined &&
      !old.shadow &&
      !isSame(old[part].entries(), now?.[part].entries() ?? [])
    )
      data.push({ where: `/${part}`, what: ELSEWHERE })
  const prefixed = data.map(({ where, what }) => ({ where: `house:${where}`, what }))
  return [...ofGuardrails(rulesOf(old), rulesOf(now), 'house:'), ...prefixed]
}

function ofGuardrails(
  old: readonly Guardrail[],
  now: readonly Guardrail[],
  prefix: string,
): Loosening[] {
  return old.flatMap((guardrail) => {
    const same = now.find(({ name }) => name === guardrail.name)
    const what = same === undefined ? ['it is gone'] : guardrailLoosens(guardrail, same)
    return what.map((each) => ({ where: `${prefix}guardrail ${guardrail.name}`, what: each }))
  })
}

function ofNames(
  section: NameSection,
  old: CompiledPolicy,
  now: CompiledPolicy,
): Steps<Loosening[]> {
  const [before, after] = [old, now].map(({ [section]: rules }) => enforced(rules.values()))
  // Computed once, not for every added or removed rule: there may be ten thousand.
  const [belowOld, belowNow] = [belowIn(section, old), belowIn(section, now)]
  return compareKeyed(before as Rule[], after as Rule[], {
    gone: (rule) => {
      if (isFree(rule)) return true
      // The tools of a glob are unknown; an exact name falls to whatever else matches it.
      if (rule.glob !== undefined) return false
      const least = weakest(wordsBelow(belowNow, parseGlob(rule.key), 'least'))
      return isAtLeast(least, 'deny') && isAtLeast(least, strongest(listPossibleActions(rule)))
    },
    come: (rule) => {
      const most = strongest(wordsBelow(belowOld, rule.glob ?? parseGlob(rule.key), 'most'))
      return isShut(rule) && isAtLeast(weakest(listPossibleActions(rule)), most)
    },
  })
}

/** What may apply to a name without an exact rule. */
interface NestedChanges {
  /** The rules with globs that are enforced. */
  readonly globs: readonly Rule[]
  /** The actions of what applies if no glob matches. */
  readonly fallback: readonly Action[]
}

function belowIn(section: NameSection, policy: CompiledPolicy): NestedChanges {
  const globs = enforced(policy[section].values()).filter(({ glob }) => glob !== undefined)
  const general = enforced(policy.categories.values())
  if (section !== 'tools') general.push(...enforced(policy.methods.values()))
  return { globs, fallback: [policy.fallback, ...general.flatMap(listPossibleActions)] }
}

/** The actions for one name. `least`: at least one of them will apply. */
function wordsBelow(
  { globs, fallback }: NestedChanges,
  name: Glob,
  which: 'least' | 'most',
): Action[] {
  const words = globs.filter(({ glob }) => glob && mayMeet(glob, name)).flatMap(listPossibleActions)
  return which === 'least' && words.length > 0 ? words : [...words, ...fallback]
}

/** Exact for a name; two globs are assumed to overlap unless their servers are two names. */
function mayMeet(glob: Glob, name: Glob): boolean {
  if (!/[*?]/.test(name.key)) return globMatches(glob, name.server, name.name)
  const isName = (text: string) => !/[*?]/.test(text)
  return !(isName(glob.server) && isName(name.server) && glob.server !== name.server)
}

/** A category's rule combines with globs, and replaces the default. */
function ofCategories(old: CompiledPolicy, now: CompiledPolicy): Steps<Loosening[]> {
  const [before, after] = [old, now].map(({ categories }) => enforced(categories.values()))
  return compareKeyed(before as Rule[], after as Rule[], {
    gone: isFree,
    come: (rule) =>
      old.fallback === 'allow' ||
      (isShut(rule) && isAtLeast(weakest(listPossibleActions(rule)), old.fallback)),
  })
}

/** A method's rule replaces its category's. */
function ofMethods(old: CompiledPolicy, now: CompiledPolicy): Steps<Loosening[]> {
  const [before, after] = [old, now].map(({ methods }) => enforced(methods.values()))
  return compareKeyed(before as Rule[], after as Rule[], {
    gone: isFree,
    come: (rule) => {
      const category = CONTENT_METHODS.get(rule.key)
      const of = category && old.categories.get(category)
      const most = strongest([old.fallback, ...(of && !of.shadow ? listPossibleActions(of) : [])])
      return isShut(rule) && isAtLeast(weakest(listPossibleActions(rule)), most)
    },
  })
}

/** `gone` and `come`: whether removing or adding the rule loosens nothing. */
function* compareKeyed(
  old: readonly Rule[],
  now: readonly Rule[],
  opensNothing: Record<'gone' | 'come', (rule: Rule) => boolean>,
): Steps<Loosening[]> {
  const [before, after] = [old, now].map((rules) => new Map(rules.map((rule) => [rule.key, rule])))
  const loosenings: Loosening[] = []
  for (const rule of old) {
    const same = after?.get(rule.key)
    const gone = () => (opensNothing.gone(rule) ? [] : ['it is gone'])
    const what = same === undefined ? gone() : ruleLoosens(rule, same)
    for (const each of what) loosenings.push({ where: rule.pointer, what: each })
    yield
  }
  for (const rule of now) {
    if (before?.has(rule.key)) continue
    if (!opensNothing.come(rule))
      loosenings.push({ where: rule.pointer, what: 'is new, and may override something stricter' })
    yield
  }
  return loosenings
}
