// Checks whether the user asked for what a call does, by the verb in the name of its tool. Pure, total and bounded.

import type { ProvenanceLookup } from '../calls/provenance.ts'
import type { ProtectionFinding } from './check-call.ts'
import { type CheckedCall, collectValues } from './collect-values.ts'
import { isSentence } from './is-prose.ts'
import { readValue } from './read-value.ts'
import { getToolVerb } from './verbs.ts'
import { visitLeaves } from './visit-arguments.ts'

/** `destructive`: of such verbs only. `unnamed`: of calls with a value that the user did not name. */
export type VerbScope = 'destructive' | 'unnamed' | 'every'

/** A verb that the user did not ask for. */
export function checkVerb(
  call: CheckedCall,
  memory: ProvenanceLookup,
  scope: VerbScope,
): ProtectionFinding | undefined {
  const { hasPrompt, hasProse } = memory
  if (call.category === 'Read' || !hasProse) return undefined
  // Nobody asks to `bash` something. `strict` asks about every change all the same.
  if (call.isClientTool === true && scope !== 'every') return undefined
  const { verb, isDestructive } = getToolVerb(call.name)
  if (call.category !== 'Destructive' && !isDestructive) {
    if (scope === 'destructive' || !hasPrompt) return undefined
    if (scope === 'unnamed' && (call.flow === 'internal' || isNamedWhole(call, memory)))
      return undefined
  }
  if (isAsked(call, memory)) return undefined
  return {
    reason: hasPrompt
      ? `the user did not ask to \`${verb}\` anything`
      : `it would \`${verb}\`, and what the user asked for is not known`,
  }
}

/** The user named everything that the call acts on. */
function isNamedWhole(call: CheckedCall, memory: ProvenanceLookup): boolean {
  const values = collectValues(call, false).values.filter(({ use }) => use !== 'code')
  return values.length > 0 && values.every(({ reading }) => memory.originOf(reading) === 'user')
}

/**
 * By the verb, or by another word for it. Such a word is vague ("put" asks to add), so something else
 * has to connect the call with the prompt: what the tool acts on, or a value that exists.
 */
function isAsked({ name, args, inputSchema }: CheckedCall, memory: ProvenanceLookup): boolean {
  const { verb, words, objects } = getToolVerb(name)
  const isAskedFor = (some: Iterable<string>) => [...some].some((word) => memory.wasAsked(word))
  if (isAskedFor([verb])) return true
  if (!isAskedFor(words)) return false
  if (objects.size === 0 || isAskedFor(objects)) return true
  let isConnected = false
  visitLeaves(args, inputSchema, ({ text, role, isEnum }) => {
    if (isEnum || isConnected || isSentence(text)) return
    const origin = memory.originOf(readValue(text, role === 'address'))
    isConnected = origin === 'user' || origin === 'trusted' || origin.endsWith('field')
  })
  return isConnected
}
