// An operation from the command line: asked of the running gate, or run by the command itself under the
// lock of the data directory; with the PIN of a person if the operation needs one. Simple commands are
// made from the row alone.

import type { JsonObject } from '@sluice/policy/core/json'
import type { Command } from 'commander'
import type { Operation, OperationParts } from '../../operations/operation.ts'
import { proofOf, runOperation } from '../../operations/run-operation.ts'
import type { SetExitCode } from '../../terminal/exit-code.ts'
import { Output } from '../../terminal/output.ts'
import { addDataOptions, type DataOptions, findData } from './find-data.ts'
import { type DataPlace, type OfflineParts, withOfflineParts } from './offline-parts.ts'
import { addProofOption, type ProofOptions, provePerson } from './prove-person.ts'
import { runOnOwner } from './run-on-owner.ts'

export interface AskOptions {
  readonly place: DataPlace
  readonly options: ProofOptions
  /** The row to run if no gate does, where it is another. */
  readonly offline?: (parts: OfflineParts) => Operation
}

export async function askOperation(
  row: Operation,
  input: JsonObject,
  { place, options, offline }: AskOptions,
): Promise<JsonObject> {
  const { data } = place
  const proof = proofOf(row, input) === 'none' ? {} : { proof: await provePerson(data, options) }
  const request = { ...input, do: row.socket ?? row.name, ...proof }
  return runOnOwner(data, request, () =>
    withOfflineParts(place, (parts) =>
      runOperation(offline?.(parts) ?? row, parts as OperationParts, request),
    ),
  )
}

export interface OperationCommand {
  readonly row: Operation
  /** How each field is written: `<name>` is an argument, `--why <text>` an option. */
  readonly flags: Readonly<Record<string, string>>
  readonly name: string
  readonly description?: string
  readonly examples?: string
  /** Where the data is; as `--config` and `--data` say unless given. */
  readonly find?: (options: DataOptions, output: Output) => DataPlace
  /** What a person reads, and the exit code if it is not 0. */
  readonly print: (answer: JsonObject, output: Output, input: JsonObject) => 0 | 1 | undefined
  /** What `--json` prints, if not the answer. */
  readonly value?: (answer: JsonObject) => JsonObject
}

type Options = DataOptions & ProofOptions & { readonly json?: boolean } & Record<string, unknown>

/** A command that asks for one operation and prints its answer. */
export function addOperationCommand(
  parent: Command,
  face: OperationCommand,
  answer: SetExitCode,
): void {
  const { row, flags, name, description = row.summary, find = findData } = face
  const command = parent.command(name).description(description)
  const args: string[] = []
  for (const [field, flag] of Object.entries(flags)) {
    const doc = row.input[field]?.doc ?? ''
    if (flag.startsWith('-')) command.option(flag, doc)
    else {
      args.push(field)
      command.argument(flag, doc)
    }
  }
  addDataOptions(command).option('--json', 'print JSON')
  if (row.proof !== 'none') addProofOption(command)
  if (face.examples !== undefined) command.addHelpText('after', face.examples)
  command.action(async (...values: unknown[]) => {
    const options = values[args.length] as Options
    const output = new Output(options)
    const named = Object.keys(flags).map((field) => {
      const at = args.indexOf(field)
      return [field, at < 0 ? options[field] : values[at]] as const
    })
    const input = Object.fromEntries(named.filter(([, value]) => value !== undefined)) as JsonObject
    const response = await askOperation(row, input, { place: find(options, output), options })
    output.value(face.value === undefined ? response : face.value(response))
    answer(face.print(response, output, input) ?? 0)
  })
}
