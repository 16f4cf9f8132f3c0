// What a server of the stateless era wants to know before it answers a call: sampling, elicitation
// and roots come inside a result. Each is judged as the request it would have been in a session.

import { isObject } from '../core/json.ts'
import { readMembers } from '../wire/members.ts'
import type { Request } from '../wire/message.ts'
import { membersOf } from '../wire/spans.ts'
import { admit, type Spine, type Verdict } from './admit.ts'
import { callOf, passageFromServer } from './call-of.ts'
import type { RelayContext } from './relay.ts'

/** Of these the protocol lets a server want more. */
const MAY_WANT_INPUT: ReadonlySet<string> = new Set(['tools/call', 'prompts/get', 'resources/read'])

/** The members of a result that wants input; undefined for any other. */
export function wantedInput(
  method: string,
  resultText: string | undefined,
): Map<string, string> | undefined {
  if (!MAY_WANT_INPUT.has(method) || !resultText?.includes('"input_required"')) return undefined
  const members = membersOf(resultText)
  return members.get('resultType') === '"input_required"' ? members : undefined
}

type Refused = (Verdict & { readonly admission?: undefined }) | { readonly fault: string }

/** The first question that may not be put to the client. */
export async function refusedQuestion(
  inputRequests: string,
  {
    spine,
    server,
    facts,
    record,
  }: Pick<RelayContext, 'server' | 'facts' | 'record'> & {
    readonly spine: Spine
  },
): Promise<Refused | undefined> {
  for (const text of membersOf(inputRequests).values()) {
    const value: unknown = JSON.parse(text)
    const method = isObject(value) ? value.method : undefined
    if (typeof method !== 'string' || passageFromServer(method) !== 'judged')
      return { fault: `the server asks for \`${String(method).slice(0, 100)}\`` }
    const params = readMembers(membersOf(text).get('params') ?? '{}')
    const request: Request = { kind: 'request', id: 0, method, params, source: text }
    const startedMs = performance.now()
    const call = callOf(server, request)
    const verdict = await admit(spine, { call, facts: facts(), argsText: undefined })
    if (verdict.admission === undefined) return verdict
    record(verdict.admission, startedMs, { status: 'answered' })
  }
  return undefined
}
