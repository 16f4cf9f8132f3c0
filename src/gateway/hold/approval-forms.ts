// What the client itself is shown of a held call: the page where a person decides, or, where the rule
// lets the client decide, a form. What comes back is the caller's own word: real clients accept by
// themselves, so it counts only where the rule says so and is on record as unverified.

import { isObject, type JsonObject, type JsonValue } from '../../core/json.ts'
import type { Person } from '../../core/person.ts'
import type { Pending } from './hold-call.ts'

export interface ClientAsk {
  /** A form decides, a page only carries the address. */
  readonly mode: 'form' | 'url'
  /** Of `elicitation/create`. */
  readonly params: JsonObject
}

const ASKED_LENGTH_MAX = 2_000

/** Undefined where the client can be shown nothing. `capabilities` are the client's. */
export function clientAskOf(
  pending: Pending,
  what: string,
  capabilities: JsonValue | undefined,
  withId: boolean,
): ClientAsk | undefined {
  const elicitation = isObject(capabilities) ? capabilities.elicitation : undefined
  if (!isObject(elicitation)) return undefined
  const { id, url, reason, client } = pending
  const message = `${what}: ${reason}`.slice(0, ASKED_LENGTH_MAX)
  // A client that says nothing of modes has forms, as all had before there were pages.
  const hasForms = elicitation.form !== undefined || elicitation.url === undefined
  if (client && hasForms) {
    const approve = { type: 'boolean', title: 'let this call pass' }
    const requestedSchema = {
      type: 'object',
      properties: { approve },
      required: ['approve'],
    }
    return { mode: 'form', params: { message, requestedSchema } }
  }
  if (elicitation.url === undefined || url === undefined) return undefined
  return {
    mode: 'url',
    params: { mode: 'url', message, url, ...(withId ? { elicitationId: id } : {}) },
  }
}

/** What the client said to a form; undefined where that is nothing. */
export function clientVerdict(result: JsonValue | undefined): 'approve' | 'deny' | undefined {
  if (!isObject(result)) return undefined
  if (result.action === 'decline') return 'deny'
  if (result.action !== 'accept' || !isObject(result.content)) return undefined
  if (typeof result.content.approve !== 'boolean') return undefined
  return result.content.approve ? 'approve' : 'deny'
}

/** Whoever answers a form, as far as anybody knows. */
export function clientPerson(principal: string): Person {
  const none = { roles: [], groups: [], owns: [] }
  return { name: `the client of ${principal}`, kind: 'system', ...none, proof: 'client' }
}
