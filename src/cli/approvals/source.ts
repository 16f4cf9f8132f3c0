// The running gate's approvals as commands reach them, and how a request looks on a terminal: what it
// came from is somebody else's text, so nothing of it drives the terminal.

import { canonicalMembers } from '../../approvals/json-text.ts'
import type { ApprovalRequest, Barred, Standing } from '../../core/approval.ts'
import type { JsonObject } from '../../core/json.ts'
import { CliError } from '../errors.ts'
import { askGate } from '../gate-socket.ts'
import { type Output, printable, type Style } from '../output.ts'

export interface Listed {
  readonly requests: readonly ApprovalRequest[]
  readonly standing: readonly Standing[]
  readonly barred: readonly Barred[]
  readonly news: number
}

export async function askApprovals(
  data: string,
  request: JsonObject & { readonly do: string },
  signal?: AbortSignal,
): Promise<JsonObject> {
  const answer = await askGate(data, request, signal)
  if (answer !== undefined) return answer
  throw new CliError(
    'CLI_GATE',
    'no gate runs on this data directory, so nothing waits',
    'requests that were open are kept: `sluice up` goes on with them',
  )
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

export function lineOf(request: ApprovalRequest, output: Output, nowMs: number): string {
  const { id, state, server, name, method, principal, agent, args, expiresAtMs } = request
  const what = `${server}/${name === '' ? method : name}`
  const who = agent === null ? principal.id : `${principal.id} (agent ${agent})`
  const left = state === 'pending' ? ` ${leftOf(expiresAtMs - nowMs)}` : ''
  const shown = printable(args).slice(0, 60)
  return `${output.paint('bold', id)} ${output.paint(STATES[state], state)}${left}  ${printable(what)} ${shown} ${output.paint('dim', `by ${printable(who)}`)}`
}

/** Everything that a person decides by. */
export function pageOf(request: ApprovalRequest, output: Output, nowMs: number): string[] {
  const { asks, votes, before, category, risk, session, args, rest, edited, why } = request
  const dim = (text: string) => output.paint('dim', text)
  return [
    lineOf({ ...request, args: '' }, output, nowMs),
    `  ${dim('class')}      ${category ?? 'none'}, risk ${risk ?? 'unknown'}`,
    `  ${dim('session')}    ${printable(session)}`,
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
  ]
}

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
