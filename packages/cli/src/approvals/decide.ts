// `sluice approvals approve | deny | lift | end`: a person's word at the terminal. The PIN is asked for
// at the terminal device itself, so that an agent with a shell cannot decide.

import type {
  ApprovalRequest,
  ArgumentBound,
  StandingTerms,
} from '@sluice/access/approvals/approval'
import { describeBound } from '@sluice/access/approvals/describe-bound'
import {
  DECIDE_APPROVAL,
  END_STANDING,
  LIFT,
  SHOW_APPROVAL,
} from '@sluice/gateway/operations/approvals'
import { type FieldValues, parseDuration } from '@sluice/policy/document/shape'
import { readFamilies } from '@sluice/policy/readers/shell-family'
import type { Command } from 'commander'
import {
  addOperationCommand,
  type OperationClient,
  type OperationCommand,
} from '../connect/ask-operation.ts'
import type { DataPlace } from '../connect/offline-parts.ts'
import { readCount } from '../connect/read-option.ts'
import { many, type OptionsOf } from '../terminal/define-command.ts'
import { ArgumentError } from '../terminal/errors.ts'
import type { SetExitCode } from '../terminal/exit-code.ts'
import { type Output, printable } from '../terminal/output.ts'
import { terminal } from '../terminal/terminal.ts'
import { pageOf, reveal } from './source.ts'

const STANDING = {
  '--for <time>': 'also allow calls like it for this long: 30m, 8h',
  '--bound <bound>': many('with --for: bound of an argument'),
  '--calls <n>': 'with --for: at most this many calls',
  '--session': 'with --for: only in the session of the call',
  '--reveal': 'show masked values first, with the same PIN; asks again',
} as const

/** Denying has none of them. */
type StandingOptions = Partial<OptionsOf<typeof STANDING>>

const APPROVE_EXAMPLES = `
Examples:
  sluice approvals approve 3f9
  sluice approvals approve 3f9 --comment "checked with Ann"
  sluice approvals approve 3f9 --args '{"amount": 20}'          if the rule has edit_args
  sluice approvals approve 3f9 --for 1h --bound 'amount<=50' --bound 'note=*' --calls 10
  sluice approvals approve 3f9 --for 2h --session --bound 'command~npm test *' --bound 'cwd~/srv/app'

Shows the request, then asks for your PIN at the terminal: never on stdin, in a flag or a file. --for
lets calls like this one pass for a while: every argument exactly equal, but for those with a --bound
(NAME<=N, NAME>=N, NAME=JSON|JSON|…, NAME=*; NAME~/DIRECTORY is the directory and what is below it, and
command~LINE, for the shell of a coding agent, any line that starts only the programs of LINE; a \`*\` at the end
of its words allows more of them).`

export function addApprovalsDecide(parent: Command, answer: SetExitCode): void {
  addOperationCommand(parent, answer, {
    ...verdictCommand('approve'),
    description: 'approve a call, once',
    options: STANDING,
    examples: APPROVE_EXAMPLES,
  })
  addOperationCommand(parent, answer, {
    ...verdictCommand('deny'),
    description: 'deny a call',
    omit: ['verdict', 'edits', 'forAWhile', 'args'],
  })
  addOperationCommand(parent, answer, {
    row: LIFT,
    description: 'let a session ask again for a tool it was denied three times',
    args: { session: '<session>', name: '<server/tool>' },
    omit: ['server'],
    ask: (client, { session, name: tool }) => {
      const [server = '', ...name] = tool.split('/')
      return client.ask(LIFT, { session, server, name: name.join('/') })
    },
    print: (_, output, { name }) =>
      output.line(`lifted: ${printable(name)} may be asked for again`),
  })
  addOperationCommand(parent, answer, {
    row: END_STANDING,
    args: { id: '<id>' },
    description: 'end a standing approval',
    print: (_, output, { id }) => output.line(`ended: ${printable(id)}`),
  })
}

type Decision = FieldValues<typeof DECIDE_APPROVAL.input>

function verdictCommand(
  verdict: Decision['verdict'],
): OperationCommand<typeof DECIDE_APPROVAL, DataPlace, typeof STANDING> {
  return {
    row: DECIDE_APPROVAL,
    name: verdict,
    args: { id: '<id>' },
    omit: ['verdict', 'edits', 'forAWhile'],
    ask: (client, input, options, output) => decide(client, { ...input, verdict }, options, output),
    print: ({ state, asks }, output) => {
      const missing = asks.filter(({ quorum, approvedBy }) => approvedBy.length < quorum)
      const waits =
        state === 'pending' ? `, ${missing.length} of ${asks.length} rules still wait` : ''
      output.line(`${output.paint(state === 'denied' ? 'red' : 'green', state)}${waits}`)
    },
  }
}

async function decide(
  client: OperationClient,
  input: Decision,
  options: StandingOptions,
  output: Output,
): Promise<ApprovalRequest | undefined> {
  const request = await client.ask(SHOW_APPROVAL, { id: input.id })
  // With --json too: the call is always shown before it is decided.
  const show = (line: string) => (output.json ? output.remark(line) : output.line(line))
  for (const line of pageOf(request, output, Date.now())) show(line)
  const terms = readTerms(options)
  for (const line of boundLines(terms)) show(`  ${line}`)
  await client.prove()
  if (options.reveal === true) {
    // The PIN was typed before it could be read, so the person is asked once more.
    for (const line of pageOf(await reveal(client, request), output, Date.now())) show(line)
    if (!/^y(es)?$/i.test((await terminal.ask('approve this? (yes/no) ')) ?? '')) {
      output.line('nothing was decided')
      return undefined
    }
  }
  const { id, edits } = request
  return client.ask(DECIDE_APPROVAL, {
    ...input,
    id,
    edits,
    ...(terms === undefined ? {} : { forAWhile: terms }),
  })
}

/** The approver of `npm test` approves what the files there say. */
const PROJECT_CODE = '  a program runs what its files say: who may write them decides what it does'

/** What a standing approval would let pass, as it will be read. */
function boundLines(terms: StandingTerms | undefined): string[] {
  if (terms === undefined) return []
  const { forMs, calls, session } = terms
  const bounds = Object.entries(terms.bounds ?? {})
  const often = calls === undefined ? 'as many calls as come' : `at most ${calls} calls`
  return [
    `for ${forMs / 60_000} minutes, ${session === true ? 'in this session only, ' : ''}${often}, every argument exactly as above but:`,
    ...bounds.map(([name, bound]) => `  ${printable(`${name}: ${describeBound(bound)}`)}`),
    ...(bounds.length === 0 ? ['  none'] : []),
    ...(bounds.some(([, bound]) => 'lines' in bound) ? [PROJECT_CODE] : []),
  ]
}

function readTerms(options: StandingOptions): StandingTerms | undefined {
  const { for: time, bound = [], calls, session } = options
  if (time === undefined) {
    // An option that may be repeated is an empty list if it is not given.
    const given = ['calls', 'session', ...(bound.length > 0 ? ['bound'] : [])].find(
      (name) => name in options,
    )
    if (given === undefined) return undefined
    throw new ArgumentError(`--${given} without --for`, 'say for how long, such as --for 1h')
  }
  const seconds = parseDuration(time)
  if (seconds === undefined)
    throw new ArgumentError(`--for is \`${time}\``, 'a time such as 30m or 8h')
  const bounds: Record<string, ArgumentBound> = {}
  for (const each of bound) {
    const [name, read] = readBound(each)
    bounds[name] = { ...bounds[name], ...read }
  }
  const often = calls === undefined ? {} : { calls: readCount(calls, '--calls', 999_999_999) }
  return { forMs: seconds * 1_000, ...often, ...(session === true ? { session } : {}), bounds }
}

function readBound(text: string): [string, ArgumentBound] {
  const match = /^([^<>=~]+)(<=|>=|=|~)(.*)$/s.exec(text)
  const [, name = '', sign, value = ''] = match ?? []
  if (match === null)
    throw new ArgumentError(`--bound is \`${text}\``, 'such as amount<=50 or note=*')
  if (sign === '~') return [name, value.startsWith('/') ? { below: value } : readLines(text, value)]
  if (sign === '<=') return [name, { max: value }]
  if (sign === '>=') return [name, { min: value }]
  return [name, value === '*' ? { any: true } : { oneOf: value.split('|') }]
}

function readLines(option: string, line: string): ArgumentBound {
  const lines = readFamilies(line)
  if (typeof lines !== 'string') return { lines }
  throw new ArgumentError(`--bound is \`${option}\`: ${lines}`, 'such as command~npm test *')
}
