// Parses a rule's `approval`: who approves and how, and when the client itself may not approve.

import type { Channel } from '../calls/decision.ts'
import { asMap } from '../document/check-shape.ts'
import { items, scalar, strings } from '../document/fields.ts'
import type { Problems } from '../document/problem.ts'
import { findEntry, type LocatedMap } from '../document/read-document.ts'
import { parseDuration } from '../document/shape.ts'
import type { Approval } from '../model/rule.ts'
import { APPROVAL_DEFAULT } from '../model/rule.ts'

export function parseApproval(map: LocatedMap, problems: Problems): Approval {
  const node = findEntry(map, 'approval')
  if (node === undefined) return APPROVAL_DEFAULT
  const fields = asMap(node)
  const seconds = (name: string, fallbackMs: number) => {
    const value = parseDuration(scalar(fields, name))
    return value === undefined ? fallbackMs : value * 1_000
  }
  const listed = (name: string) => strings(findEntry(fields, name))
  const channels = listed('channels') as Channel[]
  const approval: Approval = {
    timeoutMs: seconds('timeout', APPROVAL_DEFAULT.timeoutMs),
    waitMs: seconds('wait', APPROVAL_DEFAULT.waitMs),
    approvers: listed('approvers'),
    quorum: (scalar(fields, 'quorum') as number | undefined) ?? APPROVAL_DEFAULT.quorum,
    channels: channels.length > 0 ? channels : APPROVAL_DEFAULT.channels,
    separateDuties: scalar(fields, 'separate_duties') === true,
    editArgs: scalar(fields, 'edit_args') === true,
  }
  if (approval.approvers.length > 0 || findEntry(fields, 'quorum') !== undefined)
    checkClientChannel(map, 'if `approvers` or a `quorum` are required', approval, problems)
  else if (approval.separateDuties)
    checkClientChannel(map, 'if `separate_duties` is required', approval, problems)
  return approval
}

export function checkClientChannel(
  map: LocatedMap,
  what: string,
  approval: Approval,
  problems: Problems,
): void {
  if (!approval.channels.includes('client')) return
  const written = items(findEntry(asMap(findEntry(map, 'approval')), 'channels')).find(
    ({ value }) => value === 'client',
  )
  problems.error(
    'POLICY_CLIENT_CHANNEL',
    (written ?? map).at,
    `\`client\` may not approve ${what}`,
    'remove it from `channels`: it is the approval of the caller, not of a person',
  )
}
