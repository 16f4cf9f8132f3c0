// What a client of the stateless generation says of itself with every request, so that each server can
// be begun with it. Pure.

import { splitMembers } from '../../protocol/json/raw-members.ts'
import { withMembers } from '../../protocol/members.ts'
import type { ParsedMembers } from '../../protocol/message.ts'
import { META } from '../../protocol/protocol-generation.ts'
import { writeMembers } from '../../protocol/write-message.ts'

export const NO_PARAMS: ParsedMembers = { value: {}, text: new Map() }

export function helloOf(params: ParsedMembers | undefined): ParsedMembers {
  const meta = splitMembers(params?.text.get('_meta') ?? '{}')
  const members = [META.version, META.client, META.capabilities].flatMap((key) => {
    const text = meta.get(key)
    return text === undefined ? [] : [[key, text] as const]
  })
  return withMembers(undefined, { _meta: writeMembers(new Map(members)) })
}
