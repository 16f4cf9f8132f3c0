// How a request looks on a terminal: what it came from is somebody else's text, so nothing of it drives the terminal.

import type { ApprovalRequest } from '@sluice/access/approvals/approval'
import { describeMasked } from '@sluice/access/approvals/describe-masked'
import { canonicalMembers } from '@sluice/access/approvals/json-text'
import { REVEAL_APPROVAL } from '@sluice/gateway/operations/approvals'
import { describeServerRequest, titleOfCall } from '@sluice/ledger/records/call-title'
import type { OperationClient } from '../connect/ask-operation.ts'
import { type Output, printable, type Style } from '../terminal/output.ts'

/** The request with nothing masked; recorded. */
export async function reveal(
  client: OperationClient,
  request: ApprovalRequest,
): Promise<ApprovalRequest> {
  const { args, rest } = await client.ask(REVEAL_APPROVAL, { id: request.id })
  return { ...request, args, rest, masked: { parts: [], count: 0, characters: 0 } }
}

const STATES: Readonly<Record<ApprovalRequest['state'], Style>> = {
  pending: 'yellow',
  approved: 'green',
  executed: 'green',
  denied: 'red',
  expired: 'red',
  void: 'dim',
  unknown: 'magenta',
}

export function formatRequest(request: ApprovalRequest, output: Output, nowMs: number): string {
  const { id, state, principal, agent, args, command, expiresAtMs } = request
  const what = titleOfCall(request)
  const who = agent === null ? principal.id : `${principal.id} (agent ${agent})`
  const left = state === 'pending' ? ` ${leftOf(expiresAtMs - nowMs)}` : ''
  const whole = command === undefined ? printable(args) : `$ ${printable(command.line)}`
  const shown = whole.length <= 60 ? whole : `${whole.slice(0, 60)}… [${whole.length} characters]`
  return `${output.paint('bold', id)} ${output.paint(STATES[state], state)}${left}  ${printable(what)} ${shown} ${output.paint('dim', `by ${printable(who)}`)}`
}

/** Everything that a person decides by. */
export function pageOf(request: ApprovalRequest, output: Output, nowMs: number): string[] {
  const { command, ...plain } = request
  const { asks, votes, before, category, risk, unknown, session, args, rest, edited, why } = plain
  const { sessionName = session, program } = request
  const dim = (text: string) => output.paint('dim', text)
  const purpose = describeServerRequest(request)
  return [
    formatRequest({ ...plain, args: '' }, output, nowMs),
    ...(command === undefined
      ? []
      : [
          `  ${dim('command')}    $ ${printable(command.line)}`,
          `  ${dim('in')}         ${printable(command.directory)}`,
          `  ${dim('touches')}    ${printable(command.touches)}`,
        ]),
    `  ${dim('class')}      ${unknown === true ? `unknown, perhaps ${category}` : `${category ?? 'none'}, risk ${risk ?? 'unknown'}`}`,
    ...(program === undefined
      ? []
      : [
          `  ${dim('made by a program')}`,
          ...program.split('\n').map((line) => `    ${printable(line)}`),
        ]),
    ...(purpose === undefined ? [] : [`  ${dim('who asks')}   ${printable(purpose)}`]),
    `  ${dim('session')}    ${printable(sessionName)}`,
    ...asks.map(({ rule, reason, approvers, quorum, approvedBy }) => {
      const whom = `${quorum} of ${printable(approvers.join(', ')) || 'any approver'}`
      const so = approvedBy.length > 0 ? `, approved by ${printable(approvedBy.join(', '))}` : ''
      return `  ${dim('asked by')}   ${printable(rule)}${reason === '' ? '' : `: ${printable(reason)}`} (${whom}${so})`
    }),
    ...before.map(
      ({ atMs, server, name, action }) =>
        `  ${dim('before')}     ${timeOf(atMs)} ${printable(`${server}/${name}`)} ${action}`,
    ),
    ...votes.map(
      ({ by, verdict, channel, proof, comment, gone }) =>
        `  ${dim('verdict')}    ${verdict} by ${printable(by)} (${channel}, ${proof})${gone ? ', who may no longer decide' : ''}${comment === '' ? '' : `: ${printable(comment)}`}`,
    ),
    ...(why === '' ? [] : [`  ${dim('why')}        ${printable(why)}`]),
    `  ${dim(edited ? 'arguments, changed' : 'arguments')}`,
    ...argumentLines(args).map((line) => `    ${line}`),
    ...(rest === ''
      ? []
      : [`  ${dim('beside them')}`, ...argumentLines(rest).map((line) => `    ${line}`)]),
    ...summaryOf(request, output),
  ]
}

/** Behind the arguments, where it stands next to the question for the PIN: a long argument must not
 * push what it is about off the screen, nor hide that something is not shown. */
function summaryOf(request: ApprovalRequest, output: Output): string[] {
  const { id, args, rest, looksLike } = request
  const length = args.length + rest.length
  const what = printable(titleOfCall(request))
  const masked = describeMasked(request)
  return [
    ...(length > SCREEN_CHARACTERS
      ? [`  this was ${what} (${printable(id)}), ${length} characters: read from the top`]
      : []),
    ...(looksLike === undefined
      ? []
      : [output.paint('yellow', `  the name looks like \`${printable(looksLike)}\`, and is not`)]),
    ...(masked === undefined
      ? []
      : [
          output.paint('yellow', `  ${masked}`),
          `  to see them: sluice approvals show ${printable(id)} --reveal, or approve with --reveal (the same PIN)`,
        ]),
  ]
}

/** About what a screen holds. */
const SCREEN_CHARACTERS = 2_000

/** A line an argument, with the digits it has; none can make lines of its own. */
function argumentLines(args: string): string[] {
  if (args === '') return ['none, or no longer kept']
  const members = [...canonicalMembers(args)]
  if (members.length === 0) return [printable(args)]
  return members.map(([name, value]) => `${printable(name)}: ${printable(value)}`)
}

function leftOf(ms: number): string {
  if (ms <= 0) return 'now'
  const seconds = Math.ceil(ms / 1_000)
  return seconds < 120 ? `${seconds} s left` : `${Math.ceil(seconds / 60)} min left`
}

function timeOf(ms: number): string {
  return new Date(ms).toISOString().slice(11, 19)
}
