// What a search of requests for approval looks in, in the inbox of the console and at the gate. Pure.

import { titleOfCall } from '@sluice/ledger/records/call-title'
import type { ApprovalRequest } from './approval.ts'

/** Whether a request has this text, in any case, in what a person reads of it. */
export function hasText(request: ApprovalRequest, text: string): boolean {
  const { principal, sessionName = '', args, id, why, votes } = request
  const said = votes.flatMap(({ by, comment }) => [by, comment])
  const read = [titleOfCall(request), principal.id, sessionName, args, id, why, ...said].join(' ')
  return read.toLowerCase().includes(text.toLowerCase())
}
