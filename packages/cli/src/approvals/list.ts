// `sluice approvals list` and `show`: what waits, and everything that a person decides by. Secrets are
// masked; to see behind the mask takes the PIN of an approver, and is recorded.

import { APPROVAL_STATES, type StandingApproval } from '@sluice/access/approvals/approval'
import { describeBound } from '@sluice/access/approvals/describe-bound'
import {
  type ApprovalsListing,
  LIST_APPROVALS,
  SHOW_APPROVAL,
} from '@sluice/gateway/operations/approvals'
import type { Command } from 'commander'
import { addOperationCommand } from '../connect/ask-operation.ts'
import { PROOF } from '../connect/prove-person.ts'
import type { SetExitCode } from '../terminal/exit-code.ts'
import { type Output, plural, printable } from '../terminal/output.ts'
import { formatRequest, pageOf, reveal } from './source.ts'

const LIST_EXAMPLES = `
Examples:
  sluice approvals list                what waits
  sluice approvals list --all --json   what was decided, too

Also shows standing approvals, and what a session is denied until a person lifts it. The exit code is 0
whether something waits or not; a script reads \`--json\`.`

const SHOW_EXAMPLES = `
Examples:
  sluice approvals show 3f9            the beginning of an id is enough
  sluice approvals show 3f9 --reveal   with what is masked; asks for your PIN, and is on record`

export function addApprovalsList(parent: Command, answer: SetExitCode): void {
  addOperationCommand(parent, answer, {
    row: LIST_APPROVALS,
    description: 'list pending approvals',
    omit: ['states', 'before', 'limit'],
    options: { '--all': 'decided requests, too' },
    examples: LIST_EXAMPLES,
    ask: (client, input, { all }) => {
      const states = all === true ? APPROVAL_STATES : (['pending', 'approved', 'unknown'] as const)
      return client.ask(LIST_APPROVALS, { ...input, states })
    },
    value: ({ requests, standing, barred }) => ({ requests, standing, barred }),
    print: printListing,
  })
}

function printListing(listing: ApprovalsListing, output: Output): void {
  const { requests, standing = [], barred = [] } = listing
  for (const each of requests) output.line(formatRequest(each, output, Date.now()))
  for (const each of standing) printStanding(each, output)
  for (const { session, server, name, denials } of barred)
    output.line(
      `${output.paint('red', 'denied')} ${printable(`${server}/${name}`)} to ${printable(session)} after ${plural(denials, 'denial')}: \`sluice approvals lift\``,
    )
  if (!requests.some(({ state }) => state === 'pending')) output.line('nothing waits for a person')
}

function printStanding(standing: StandingApproval, output: Output): void {
  const { id, server, name, principal, untilMs, used, calls, session, bounds, by } = standing
  const often = calls === null ? `${used} times` : `${used} of ${calls} times`
  const where = session === null ? '' : `, in session ${session} only`
  output.line(
    `${output.paint('green', 'for a while')} ${printable(`${server}/${name}`)} by ${printable(principal)} until ${new Date(untilMs).toISOString()}${printable(where)}, used ${often}, approved by ${printable(by.join(', '))} (${id})`,
  )
  for (const [argument, bound] of Object.entries(bounds))
    output.line(`  ${printable(`${argument}: ${describeBound(bound)}`)}`)
}

export function addApprovalsShow(parent: Command, answer: SetExitCode): void {
  addOperationCommand(parent, answer, {
    row: SHOW_APPROVAL,
    description: 'everything about one request',
    args: { id: '<id>' },
    options: { ...PROOF, '--reveal': 'show masked values; asks for your PIN and is recorded' },
    examples: SHOW_EXAMPLES,
    ask: async (client, input, options) => {
      const request = await client.ask(SHOW_APPROVAL, input)
      return options.reveal === true ? reveal(client, request) : request
    },
    print: (request, output) => {
      for (const line of pageOf(request, output, Date.now())) output.line(line)
    },
  })
}
