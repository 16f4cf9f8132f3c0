// `sluice approvals list` and `show`: what waits, and everything that a person decides by. Secrets are
// masked; to see behind the mask takes the PIN of an approver, and is recorded.

import type { Command } from 'commander'
import { APPROVAL_STATES, type ApprovalRequest } from '../../core/approval.ts'
import type { SetExitCode } from '../../terminal/exit-code.ts'
import { Output, plural, printable } from '../../terminal/output.ts'
import { addDataOptions, type DataOptions, findData } from '../connect/find-data.ts'
import { addProofOption, provePerson } from '../connect/prove-person.ts'
import { type ApprovalsListing, askApprovals, formatRequest, pageOf, reveal } from './source.ts'

interface Options extends DataOptions {
  readonly all?: boolean
  readonly server?: string
  readonly principal?: string
  readonly reveal?: boolean
}

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
  addDataOptions(parent.command('list').description('list pending approvals'))
    .option('--all', 'decided requests, too')
    .option('--server <name>', 'only of this server')
    .option('--principal <id>', 'only of this caller')
    .option('--json', 'print JSON')
    .addHelpText('after', LIST_EXAMPLES)
    .action(async ({ all, server, principal, ...options }: Options) => {
      const output = new Output(options)
      const states = all === true ? APPROVAL_STATES : ['pending', 'approved', 'unknown']
      const narrow = { ...(server ? { server } : {}), ...(principal ? { principal } : {}) }
      const request = { do: 'approvals', states: [...states], ...narrow }
      const { data } = findData(options)
      const listing = (await askApprovals(data, request)) as unknown as ApprovalsListing
      const { requests, standing, barred } = listing
      output.value({ requests, standing, barred })
      for (const each of requests) output.line(formatRequest(each, output, Date.now()))
      for (const { id, server: on, name, principal: who, untilMs, used } of standing)
        output.line(
          `${output.paint('green', 'for a while')} ${printable(`${on}/${name}`)} by ${printable(who)} until ${new Date(untilMs).toISOString()}, used ${used} times (${id})`,
        )
      for (const { session, server: on, name, denials } of barred)
        output.line(
          `${output.paint('red', 'denied')} ${printable(`${on}/${name}`)} to ${printable(session)} after ${plural(denials, 'denial')}: \`sluice approvals lift\``,
        )
      const waiting = requests.filter(({ state }) => state === 'pending').length
      if (waiting === 0) output.line('nothing waits for a person')
      answer(0)
    })
}

export function addApprovalsShow(parent: Command, answer: SetExitCode): void {
  addProofOption(
    addDataOptions(
      parent
        .command('show')
        .description('everything about one request')
        .argument('<id>', 'or the beginning of it'),
    ),
  )
    .option('--reveal', 'show masked values; asks for your PIN and is recorded')
    .option('--json', 'print JSON')
    .addHelpText('after', SHOW_EXAMPLES)
    .action(async (id: string, options: Options) => {
      const output = new Output(options)
      const { data } = findData(options)
      const response = await askApprovals(data, { do: 'approval', id })
      let request = response.request as unknown as ApprovalRequest
      if (options.reveal === true) {
        const proof = await provePerson(data, options)
        request = await reveal(data, request, proof)
      }
      output.value(request)
      for (const line of pageOf(request, output, Date.now())) output.line(line)
      answer(0)
    })
}
