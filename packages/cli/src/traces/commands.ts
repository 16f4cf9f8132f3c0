// `sluice traces …`: records calls with their answers for a while, and takes them out for
// `sluice policy simulate`. Only a running gate records, lists and opens them.

import {
  DELETE_TRACE,
  EXPORT_TRACES,
  LIST_TRACES,
  RECORD_TRACES,
  STOP_TRACES,
} from '@sluice/gateway/operations/traces'
import type { Command } from 'commander'
import { addOperationCommand } from '../connect/ask-operation.ts'
import type { SetExitCode } from '../terminal/exit-code.ts'
import { plural, printable } from '../terminal/output.ts'
import { writeNewFile } from '../terminal/write-new-file.ts'

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

export function add(program: Command, answer: SetExitCode): void {
  const traces = program.command('traces').helpCommand(false)
  addOperationCommand(traces, answer, {
    row: RECORD_TRACES,
    examples: RECORD_EXAMPLES,
    print: ({ id, expires }, output) => output.line(`recording ${id}, deleted ${expires}`),
  })
  addOperationCommand(traces, answer, {
    row: STOP_TRACES,
    print: ({ id, bytes }, output) =>
      output.line(`recording ${printable(id)} has ended, ${bytes} bytes`),
  })
  addOperationCommand(traces, answer, {
    row: LIST_TRACES,
    print: ({ traces }, output) => {
      for (const { id, by, bytes, isRecording, started, expires } of traces) {
        const state = isRecording ? output.paint('yellow', 'recording') : `deleted ${expires}`
        output.line(printable(`${id}  ${started}  by ${by}  ${bytes} bytes  `) + state)
      }
      if (traces.length === 0) output.line('no recordings')
    },
  })
  addOperationCommand(traces, answer, {
    row: EXPORT_TRACES,
    args: { id: '<id>' },
    options: { '--out <file>': { doc: 'the file, which must not exist yet', required: true } },
    examples: EXPORT_EXAMPLES,
    value: ({ traces, calls, isWhole }) => ({ traces: traces.length, calls, isWhole }),
    print: ({ traces, calls, isWhole }, output, _, { out }) => {
      // For its owner only: a recording has the content of calls.
      writeNewFile(out, traces.map((trace) => `${JSON.stringify(trace)}\n`).join(''), 0o600)
      output.line(`${plural(traces.length, 'trace')}, ${plural(calls, 'call')}`)
      const missing = 'the recording was not ended: the last calls may be missing'
      if (!isWhole) output.line(output.paint('yellow', missing))
    },
  })
  addOperationCommand(traces, answer, {
    row: DELETE_TRACE,
    args: { id: '<id>' },
    print: ({ deleted }, output) => output.line(`recording ${printable(deleted)} is deleted`),
  })
}
