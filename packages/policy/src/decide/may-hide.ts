// Whether a document can hide a prompt or a resource from any caller. If it can, the gate must
// answer unknown names exactly like hidden ones. Pure.

import { type CompiledPolicy, listAllRules, type NameSection } from '../model/policy.ts'
import type { Guardrail, Rule } from '../model/rule.ts'
import { memoizeFor } from '../structures/memoize.ts'

type HidingSection = Exclude<NameSection, 'tools'>

const METHODS: Readonly<Record<HidingSection, readonly string[]>> = {
  prompts: ['prompts/get'],
  resources: ['resources/read', 'resources/subscribe'],
}

export function mayHide(policy: CompiledPolicy, section: HidingSection): boolean {
  return findHiding(policy)[section]
}

const findHiding = memoizeFor((policy: CompiledPolicy) => ({
  prompts: computeCanHide(policy, 'prompts'),
  resources: computeCanHide(policy, 'resources'),
}))

function computeCanHide(policy: CompiledPolicy, section: HidingSection): boolean {
  const { categories, methods, fallback } = policy
  const ofMethods = METHODS[section].map((method) => methods.get(method))
  const rules = [...policy[section].values(), categories.get('Read'), ...ofMethods]
  return (
    fallback === 'hide' ||
    rules.some((rule) => rule !== undefined && hides(rule)) ||
    listAllRules(policy).some((rule) => 'match' in rule && hides(rule) && !isOfTools(rule))
  )
}

function hides(rule: Rule | Guardrail): boolean {
  return rule.action === 'hide' || ('otherwise' in rule && rule.otherwise === 'hide')
}

function isOfTools({ match }: Guardrail): boolean {
  return match.tools !== undefined
}
