// `sluice traces …`: records calls with their answers for a while, and takes them out for
// `sluice policy simulate`. Only a running gate records, lists and opens them.

import { writeFileSync } from 'node:fs'
import type { JsonObject } from '@sluice/policy/core/json'
import type { Command } from 'commander'
import { CliError } from '../../terminal/errors.ts'
import type { SetExitCode } from '../../terminal/exit-code.ts'
import { Output, plural, printable } from '../../terminal/output.ts'
import { addDataOptions, type DataOptions, findData } from '../connect/find-data.ts'
import { askGate } from '../connect/gate-socket.ts'
import { addProofOption, provePerson } from '../connect/prove-person.ts'

interface RecordOptions extends DataOptions {
  readonly for?: string
  readonly keep?: string
  readonly server?: string
  readonly principal?: string
}
interface ExportOptions extends DataOptions {
  readonly out: string
}

const RECORD_EXAMPLES = `
Examples:
  sluice traces record --for 30m
  sluice traces record --for 8h --keep 14d --server gmail

Records the arguments and answers of tool calls, as clients were told them, until the time is over, 16 MiB
are reached, \`sluice traces stop\` or a restart of the gate. They are encrypted in the data directory,
are part of no backup, and are deleted after --keep. Asks for your PIN; needs the role admin.`

const EXPORT_EXAMPLES = `
Examples:
  sluice traces export 3f9a0c77d1e2 --out traces.jsonl
  sluice policy simulate --policy policy.yaml --tools tools.json --traces traces.jsonl

Writes a trace for each session, a JSON object a line: { id, steps: [{ server, tool, args, answer }] }. The
file is not encrypted and holds what the tools answered: keep it as you would keep the answers. Asks for
your PIN; needs the role admin.`

export function addTraces(program: Command, answer: SetExitCode): void {
  const traces = program.command('traces').helpCommand(false)
  addRecord(traces, answer)
  addStop(traces, answer)
  addList(traces, answer)
  addExport(traces, answer)
  addDelete(traces, answer)
}

function addRecord(parent: Command, answer: SetExitCode): void {
  const command = parent
    .command('record')
    .description('record calls with their answers for a limited time')
  addProofOption(addDataOptions(command))
    .option('--for <time>', 'how long to record', '1h')
    .option('--keep <time>', 'when to delete it, from now', '7d')
    .option('--server <name>', 'only calls to this server')
    .option('--principal <id>', 'only calls of this principal')
    .option('--json', 'print JSON')
    .addHelpText('after', RECORD_EXAMPLES)
    .action(async (options: RecordOptions) => {
      const output = new Output(options)
      const { for: time, keep, server, principal } = options
      const input = { for: time, keep, server, principal }
      const present = Object.entries(input).filter(([, value]) => value !== undefined)
      const response = await ask(
        options,
        { do: 'traces-record', ...Object.fromEntries(present) },
        true,
      )
      output.value(response)
      output.line(
        `recording ${printable(String(response.id))}, deleted ${String(response.expires)}`,
      )
      answer(0)
    })
}

function addStop(parent: Command, answer: SetExitCode): void {
  addDataOptions(parent.command('stop').description('end the recording'))
    .option('--json', 'print JSON')
    .action(async (options: DataOptions) => {
      const output = new Output(options)
      const response = await ask(options, { do: 'traces-stop' })
      output.value(response)
      output.line(
        `recording ${printable(String(response.id))} has ended, ${String(response.bytes)} bytes`,
      )
      answer(0)
    })
}

interface ListedTrace {
  readonly id: string
  readonly by: string
  readonly bytes: number
  readonly isRecording: boolean
  readonly started: string
  readonly expires: string
}

function addList(parent: Command, answer: SetExitCode): void {
  addDataOptions(parent.command('list').description('list recordings'))
    .option('--json', 'print JSON')
    .action(async (options: DataOptions) => {
      const output = new Output(options)
      const response = await ask(options, { do: 'traces' })
      output.value(response)
      const traces = response.traces as unknown as ListedTrace[]
      for (const { id, by, bytes, isRecording, started, expires } of traces) {
        const state = isRecording ? output.paint('yellow', 'recording') : `deleted ${expires}`
        output.line(printable(`${id}  ${started}  by ${by}  ${bytes} bytes  `) + state)
      }
      if (traces.length === 0) output.line('no recordings')
      answer(0)
    })
}

function addExport(parent: Command, answer: SetExitCode): void {
  const command = parent.command('export').description('write a recording as traces, decrypted')
  addProofOption(addDataOptions(command.argument('<id>', 'which recording')))
    .requiredOption('--out <file>', 'the file, which must not exist yet')
    .option('--json', 'print JSON')
    .addHelpText('after', EXPORT_EXAMPLES)
    .action(async (id: string, options: ExportOptions) => {
      const output = new Output(options)
      const response = await ask(options, { do: 'traces-export', id }, true)
      const traces = response.traces as unknown as JsonObject[]
      writeNew(options.out, `${traces.map((trace) => JSON.stringify(trace)).join('\n')}\n`)
      const { calls, isWhole } = response
      output.value({ traces: traces.length, calls: calls ?? 0, isWhole: isWhole ?? false })
      output.line(`${plural(traces.length, 'trace')}, ${plural(Number(calls), 'call')}`)
      if (isWhole !== true)
        output.line(
          output.paint('yellow', 'the recording was not ended: the last calls may be missing'),
        )
      answer(0)
    })
}

/** For its owner only, and never over another file. */
function writeNew(file: string, text: string): void {
  try {
    writeFileSync(file, text, { mode: 0o600, flag: 'wx' })
  } catch (error) {
    throw new CliError('CLI_FILE', (error as Error).message, 'name a file that is not there yet')
  }
}

function addDelete(parent: Command, answer: SetExitCode): void {
  const command = parent.command('delete').description('delete a recording')
  addProofOption(addDataOptions(command.argument('<id>', 'which recording')))
    .option('--json', 'print JSON')
    .action(async (id: string, options: DataOptions) => {
      const output = new Output(options)
      const response = await ask(options, { do: 'traces-delete', id }, true)
      output.value(response)
      output.line(`recording ${printable(id)} is deleted`)
      answer(0)
    })
}

async function ask(
  options: DataOptions,
  request: JsonObject & { readonly do: string },
  needsProof = false,
): Promise<JsonObject> {
  const { data } = findData(options)
  const proof = needsProof ? { proof: await provePerson(data, options) } : {}
  const response = await askGate(data, { ...request, ...proof })
  if (response !== undefined) return response
  throw new CliError('CLI_GATE', 'no gate runs here', 'start it with `sluice up`')
}
