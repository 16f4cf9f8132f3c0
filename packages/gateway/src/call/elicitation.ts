// What the client itself is shown of a held call: the page where a person decides, or, where the rule
// lets the client decide, a form. What comes back is the caller's own word: real clients accept by
// themselves, so it counts only if the rule says so and is recorded as unverified.

import { describeMasked } from '@sluice/access/approvals/describe-masked'
import { maskCall } from '@sluice/access/approvals/mask-text'
import type { Person } from '@sluice/access/identity/person'
import { visibleText } from '@sluice/guard/show/visible-text'
import { isObject, type JsonObject, type JsonValue } from '@sluice/policy/values/json'
import { listDeclaredCapabilities } from '../shared/server-questions.ts'
import type { PendingApproval } from './call-request.ts'

export interface ApprovalElicitation {
  /** A form decides, a page only carries the address. */
  readonly mode: 'form' | 'url'
  /** The parameters of `elicitation/create`. */
  readonly params: JsonObject
}

/** A call in the form in which every channel shows it to people. */
export interface ShownCall {
  /** Tool name, resource URI, prompt name or method. */
  readonly what: string
  readonly args: string
  /** Members of `params` beside name and arguments, as one JSON object; empty if there are none. */
  readonly rest: string
}

const ASKED_LENGTH_MAX = 4_000

/** Builds the question; undefined if the client's `capabilities` allow none. */
export function toElicitation(
  pending: PendingApproval,
  shown: ShownCall,
  capabilities: JsonValue | undefined,
  withId: boolean,
): ApprovalElicitation | undefined {
  const declared = listDeclaredCapabilities(capabilities)
  if (declared.length === 0) return undefined
  const { id, url, client } = pending
  const { message, isWhole } = messageOf(pending, shown)
  // A form decides: not over what it cannot show in full. The console and the terminal can.
  if (client && declared.includes('elicitation.form') && isWhole) {
    const approve = { type: 'boolean', title: 'let this call pass' }
    const requestedSchema = {
      type: 'object',
      properties: { approve },
      required: ['approve'],
    }
    return { mode: 'form', params: { message, requestedSchema } }
  }
  if (!declared.includes('elicitation.url') || url === undefined) return undefined
  return {
    mode: 'url',
    params: { mode: 'url', message, url, ...(withId ? { elicitationId: id } : {}) },
  }
}

/** The reason first: long arguments must not push it out. */
function messageOf(
  { reason }: PendingApproval,
  { what, args, rest }: ShownCall,
): { readonly message: string; readonly isWhole: boolean } {
  const shown = maskCall(args, rest)
  const masked = describeMasked(shown)
  const lines = [
    `${visibleText(what)}: ${visibleText(reason)}`,
    ...(shown.args === '' ? [] : [`arguments: ${visibleText(shown.args)}`]),
    ...(shown.rest === '' ? [] : [`beside them: ${visibleText(shown.rest)}`]),
    ...(masked === undefined ? [] : [masked]),
  ]
  const whole = lines.join('\n')
  if (whole.length <= ASKED_LENGTH_MAX) return { message: whole, isWhole: true }
  const missing = `… [${whole.length - ASKED_LENGTH_MAX} of ${whole.length} characters not shown]`
  return { message: `${whole.slice(0, ASKED_LENGTH_MAX)}${missing}`, isWhole: false }
}

/** Reads the verdict from the answer to a form; undefined if the answer has none. */
export function clientVerdict(result: JsonValue | undefined): 'approve' | 'deny' | undefined {
  if (!isObject(result)) return undefined
  if (result.action === 'decline') return 'deny'
  if (result.action !== 'accept' || !isObject(result.content)) return undefined
  if (typeof result.content.approve !== 'boolean') return undefined
  return result.content.approve ? 'approve' : 'deny'
}

/** The name recorded for the answer to a form: who is at the client is not known. */
export function clientPerson(principal: string): Person {
  const none = { roles: [], groups: [], owns: [] }
  return { name: `the client of ${principal}`, kind: 'system', ...none, proof: 'client' }
}
