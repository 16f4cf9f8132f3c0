// What a client of the stateless generation says of itself with every request, so that each server can
// be begun with it. Pure.

import { splitMembers } from '@sluice/protocol/json/raw-members'
import { withMembers } from '@sluice/protocol/members'
import type { ParsedMembers } from '@sluice/protocol/message'
import { META } from '@sluice/protocol/protocol-generation'
import { writeMembers } from '@sluice/protocol/write-message'

export const NO_PARAMS: ParsedMembers = { value: {}, text: new Map() }

export function helloOf(params: ParsedMembers | undefined): ParsedMembers {
  const meta = splitMembers(params?.text.get('_meta') ?? '{}')
  const members = [META.version, META.client, META.capabilities].flatMap((key) => {
    const text = meta.get(key)
    return text === undefined ? [] : [[key, text] as const]
  })
  return withMembers(undefined, { _meta: writeMembers(new Map(members)) })
}
