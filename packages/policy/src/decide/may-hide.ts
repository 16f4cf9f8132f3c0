// Whether a document can hide a prompt or a resource from any caller. If it can, the gate must
// answer unknown names exactly like hidden ones. Pure.

import { type CompiledPolicy, listRules, type NameSection } from '../model/policy.ts'
import type { Guardrail, Rule } from '../model/rule.ts'

type HidingSection = Exclude<NameSection, 'tools'>

const METHODS: Readonly<Record<HidingSection, readonly string[]>> = {
  prompts: ['prompts/get'],
  resources: ['resources/read', 'resources/subscribe'],
}

const cache = new WeakMap<CompiledPolicy, Readonly<Record<HidingSection, boolean>>>()

export function mayHide(policy: CompiledPolicy, section: HidingSection): boolean {
  let of = cache.get(policy)
  if (of === undefined) {
    of = {
      prompts: computeCanHide(policy, 'prompts'),
      resources: computeCanHide(policy, 'resources'),
    }
    cache.set(policy, of)
  }
  return of[section]
}

function computeCanHide(policy: CompiledPolicy, section: HidingSection): boolean {
  const { categories, methods, fallback, house } = policy
  const ofMethods = METHODS[section].map((method) => methods.get(method))
  const rules = [...policy[section].values(), categories.get('Read'), ...ofMethods]
  return (
    fallback === 'hide' ||
    rules.some((rule) => rule !== undefined && hides(rule)) ||
    [policy, ...(house ? [house] : [])].some((each) =>
      listRules(each).some((rule) => 'match' in rule && hides(rule) && !isOfTools(rule)),
    )
  )
}

function hides(rule: Rule | Guardrail): boolean {
  return rule.action === 'hide' || ('otherwise' in rule && rule.otherwise === 'hide')
}

function isOfTools({ match }: Guardrail): boolean {
  return match.tools !== undefined
}
