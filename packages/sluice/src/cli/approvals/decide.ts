// `sluice approvals approve | deny | lift | end`: a person's word at the terminal. The PIN is asked for
// at the terminal device itself, so that an agent with a shell cannot decide.

import { isObject, type JsonObject, type JsonValue } from '@sluice/policy/core/json'
import { parseDuration } from '@sluice/policy/document/shape'
import type { Command } from 'commander'
import type { ApprovalRequest, ArgumentBound } from '../../core/approval.ts'
import { END_STANDING, LIFT } from '../../operations/approvals.ts'
import { CliError } from '../../terminal/errors.ts'
import type { SetExitCode } from '../../terminal/exit-code.ts'
import { Output, printable } from '../../terminal/output.ts'
import { terminal } from '../../terminal/terminal.ts'
import { addOperationCommand, askOperation } from '../connect/ask-operation.ts'
import { type DataOptions, findData } from '../connect/find-data.ts'
import { addProvenCommand, provePerson } from '../connect/prove-person.ts'
import { askApprovals, pageOf, reveal } from './source.ts'

interface Options extends DataOptions {
  readonly comment?: string
  readonly args?: string
  readonly for?: string
  readonly bound?: readonly string[]
  readonly calls?: string
  readonly reveal?: boolean
}

const APPROVE_EXAMPLES = `
Examples:
  sluice approvals approve 3f9
  sluice approvals approve 3f9 --comment "checked with Ann"
  sluice approvals approve 3f9 --args '{"amount": 20}'          if the rule has edit_args
  sluice approvals approve 3f9 --for 1h --bound 'amount<=50' --bound 'note=*' --calls 10

Shows the request, then asks for your PIN at the terminal: never on stdin, in a flag or a file. --for
lets calls like this one pass for a while: every argument exactly equal, but for those with a --bound
(NAME<=N, NAME>=N, NAME=JSON|JSON|…, NAME=*).`

export function addApprovalsDecide(parent: Command, answer: SetExitCode): void {
  verdictCommand(parent, 'approve', 'approve a call, once')
    .option('--args <json>', 'other arguments, if the rule has `edit_args`')
    .option('--for <time>', 'also allow calls like it for this long: 30m, 8h')
    .option('--bound <bound>', 'with --for: bound of an argument', collect, [])
    .option('--calls <n>', 'with --for: at most this many calls')
    .option('--reveal', 'show masked values first, with the same PIN; asks again')
    .addHelpText('after', APPROVE_EXAMPLES)
    .action(async (id: string, options: Options) => answer(await decide('approve', id, options)))
  verdictCommand(parent, 'deny', 'deny a call').action(async (id: string, options: Options) =>
    answer(await decide('deny', id, options)),
  )
  addProvenCommand(parent, 'lift', 'let a session ask again for a tool it was denied three times')
    .argument('<session>', 'as `approvals list` shows it')
    .argument('<server/tool>')
    .action(async (session: string, tool: string, options: Options) => {
      const [server = '', ...name] = tool.split('/')
      const input = { session, server, name: name.join('/') }
      await askOperation(LIFT, input, { place: findData(options), options })
      new Output(options).line(`lifted: ${printable(tool)} may be asked for again`)
      answer(0)
    })
  addOperationCommand(
    parent,
    {
      row: END_STANDING,
      name: 'end',
      flags: { id: '<id>' },
      description: 'end a standing approval',
      print: ({ ended }, output) => {
        output.line(`ended: ${printable(String(ended))}`)
        return 0
      },
    },
    answer,
  )
}

async function decide(verdict: 'approve' | 'deny', id: string, options: Options): Promise<0 | 1> {
  const output = new Output(options)
  const { data } = findData(options)
  const seen = await askApprovals(data, { do: 'approval', id })
  const request = seen.request as unknown as ApprovalRequest
  // With --json too: the call is always shown before it is decided.
  const show = (line: string) => (output.json ? output.remark(line) : output.line(line))
  for (const line of pageOf(request, output, Date.now())) show(line)
  const { comment, args } = options
  const message: JsonObject & { do: string } = {
    do: 'approval-decide',
    id: request.id,
    verdict,
    edits: request.edits,
    ...(comment === undefined ? {} : { comment }),
    ...(args === undefined ? {} : { args }),
    ...forAWhile(options),
  }
  for (const line of boundLines(message)) show(`  ${line}`)
  const proof = await provePerson(data, options)
  if (options.reveal === true && !(await isSeen({ data, request, proof, output, show }))) {
    output.line('nothing was decided')
    return 1
  }
  const response = await askApprovals(data, { ...message, proof })
  const { state, asks } = response.request as unknown as ApprovalRequest
  output.value(response.request)
  const missing = asks.filter(({ quorum, approvedBy }) => approvedBy.length < quorum)
  const waits = state === 'pending' ? `, ${missing.length} of ${asks.length} rules still wait` : ''
  output.line(`${output.paint(state === 'denied' ? 'red' : 'green', state)}${waits}`)
  return 0
}

/** Shows everything, and asks once more: the PIN was typed before it could be read. */
async function isSeen(question: {
  readonly data: string
  readonly request: ApprovalRequest
  readonly proof: JsonObject
  readonly output: Output
  readonly show: (line: string) => void
}): Promise<boolean> {
  const { data, request, proof, output, show } = question
  const shown = await reveal(data, request, proof)
  for (const line of pageOf(shown, output, Date.now())) show(line)
  return /^y(es)?$/i.test((await terminal.ask('approve this? (yes/no) ')) ?? '')
}

/** What a standing approval would let pass, as it will be read. */
function boundLines({ forAWhile }: JsonObject): string[] {
  if (!isObject(forAWhile)) return []
  const bounds = Object.entries(isObject(forAWhile.bounds) ? forAWhile.bounds : {})
  const { calls } = forAWhile
  const often = calls === undefined ? 'as many calls as come' : `at most ${String(calls)} calls`
  return [
    `for ${Number(forAWhile.forMs) / 60_000} minutes, ${often}, every argument exactly as above but:`,
    ...bounds.map(([name, bound]) => `  ${printable(name)}: ${boundText(bound)}`),
    ...(bounds.length === 0 ? ['  none'] : []),
  ]
}

function boundText(bound: JsonValue): string {
  if (!isObject(bound)) return ''
  const { min, max, oneOf } = bound
  if (Array.isArray(oneOf)) return `one of ${printable(oneOf.join(', '))}`
  if (min === undefined && max === undefined) return 'anything'
  if (max === undefined) return `${String(min)} or more, without an upper end`
  const from = min === undefined ? '0 (no lower end was written)' : String(min)
  return printable(`from ${from} to ${String(max)}`)
}

function forAWhile({ for: time, bound = [], calls }: Options): JsonObject {
  if (time === undefined) {
    if (bound.length === 0 && calls === undefined) return {}
    throw new CliError(
      'CLI_ARGUMENT',
      `${calls === undefined ? '--bound' : '--calls'} without --for`,
      'say for how long, such as --for 1h',
    )
  }
  const seconds = parseDuration(time)
  if (seconds === undefined)
    throw new CliError('CLI_ARGUMENT', `--for is \`${time}\``, 'a time such as 30m or 8h')
  const bounds: Record<string, Record<string, string | string[] | true>> = {}
  for (const each of bound) {
    const [name, read] = readBound(each)
    bounds[name] = { ...bounds[name], ...read } as never
  }
  if (calls !== undefined && !/^[1-9]\d{0,8}$/.test(calls))
    throw new CliError('CLI_ARGUMENT', `--calls is \`${calls}\``, 'a whole number, at least 1')
  const often = calls === undefined ? {} : { calls: Number(calls) }
  return { forAWhile: { forMs: seconds * 1_000, ...often, bounds } }
}

function readBound(text: string): [string, ArgumentBound] {
  const match = /^([^<>=]+)(<=|>=|=)(.*)$/s.exec(text)
  const [, name = '', sign, value = ''] = match ?? []
  if (match === null)
    throw new CliError('CLI_ARGUMENT', `--bound is \`${text}\``, 'such as amount<=50 or note=*')
  if (sign === '<=') return [name, { max: value }]
  if (sign === '>=') return [name, { min: value }]
  return [name, value === '*' ? { any: true } : { oneOf: value.split('|') }]
}

function verdictCommand(parent: Command, name: string, description: string): Command {
  return addProvenCommand(parent, name, description)
    .argument('<id>', 'or the beginning of it')
    .option('--comment <text>', 'recorded; with a denial also told to the caller')
}

function collect(value: string, before: readonly string[]): string[] {
  return [...before, value]
}
