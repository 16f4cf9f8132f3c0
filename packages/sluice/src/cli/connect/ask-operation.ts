// An operation from the command line: asked of the running gate, or run by the command itself under the
// lock of the data directory; with the PIN of a person if the operation needs one. Simple commands are
// made from the row alone.

import type { JsonObject, JsonValue } from '@sluice/policy/core/json'
import { checkShape } from '@sluice/policy/document/check-shape'
import { fromText, locateValue } from '@sluice/policy/document/locate-value'
import { Problems } from '@sluice/policy/document/problem'
import type { Field, FieldValues, Shape } from '@sluice/policy/document/shape'
import type { Command } from 'commander'
import { InputError, type OperationError } from '../../core/operation-error.ts'
import type { AnswerOf, Operation, OperationParts } from '../../operations/operation.ts'
import { proofOf, runOperation } from '../../operations/run-operation.ts'
import { CliError } from '../../terminal/errors.ts'
import type { SetExitCode } from '../../terminal/exit-code.ts'
import { Output } from '../../terminal/output.ts'
import { addDataOptions, type DataOptions, findData } from './find-data.ts'
import { type DataPlace, type OfflineParts, withOfflineParts } from './offline-parts.ts'
import { addProofOption, type ProofOptions, provePerson } from './prove-person.ts'
import { readTime } from './read-option.ts'
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

export interface OperationCommand<Row extends Operation, Place extends DataPlace> {
  readonly row: Row
  readonly name: string
  /** Fields that are arguments; the others are options. */
  readonly args?: readonly (keyof Row['input'] & string)[]
  /** How each field is written, if not as its shape says: `<name>` is an argument, `--why <text>` an
   * option, and what is missing here is neither. */
  readonly flags?: Readonly<Record<string, string>>
  /** Options of the command alone: those that may be left out, and those that may not. */
  readonly extra?: Readonly<Record<string, string>>
  readonly required?: Readonly<Record<string, string>>
  readonly description?: string
  readonly examples?: string
  /** Where the data is; as `--config` and `--data` say unless given. */
  readonly find?: (options: DataOptions, output: Output) => Place
  /** Before a person is asked for a PIN: why not, or the exit code if the command ends here. */
  readonly before?: (
    input: FieldValues<Row['input']>,
    place: Place,
    options: Options,
    output: Output,
  ) => OperationError | 0 | 1 | undefined
  /** What a person reads; 1 if that is the exit code. */
  readonly print: (
    answer: AnswerOf<Row>,
    output: Output,
    input: FieldValues<Row['input']>,
    options: Options,
  ) => unknown
  /** What `--json` prints, if not the answer. */
  readonly value?: (answer: AnswerOf<Row>) => JsonObject
}

type Options = DataOptions & ProofOptions & { readonly json?: boolean } & Record<string, unknown>

/** A command that asks for one operation and prints its answer. */
export function addOperationCommand<Row extends Operation, Place extends DataPlace>(
  parent: Command,
  face: OperationCommand<Row, Place>,
  answer: SetExitCode,
): void {
  const { row, name, description = row.summary, find = findData } = face
  const command = parent.command(name).description(description)
  const flags = Object.entries(face.flags ?? flagsOf(row, face.args ?? []))
  const args: string[] = []
  for (const [field, flag] of flags) {
    if (!flag.startsWith('-')) args.push(field)
    addField(command, flag, row.input[field])
  }
  for (const [flag, doc] of Object.entries(face.extra ?? {})) command.option(flag, doc)
  for (const [flag, doc] of Object.entries(face.required ?? {})) command.requiredOption(flag, doc)
  addDataOptions(command).option('--json', 'print JSON')
  if (row.proof !== 'none') addProofOption(command)
  if (face.examples !== undefined) command.addHelpText('after', face.examples)
  command.action(async (...values: unknown[]) => {
    const options = values[args.length] as Options
    const output = new Output(options)
    const named = flags.flatMap(([field, flag]) => {
      const at = args.indexOf(field)
      const value = at < 0 ? options[field] : values[at]
      return value === undefined ? [] : [[field, readField(row.input[field], flag, value)]]
    })
    const input = Object.fromEntries(named) as JsonObject & FieldValues<Row['input']>
    const place = find(options, output) as Place
    const ends = face.before?.(input, place, options, output)
    if (ends instanceof InputError) throw new CliError('CLI_ARGUMENT', ends.message, ends.help)
    if (typeof ends === 'object') {
      const { message, help } = ends
      output.remark(`sluice: ${message}\n  help: ${help}`)
      output.value({ error: { code: null, message, help } })
      return answer(1)
    }
    if (ends !== undefined) return answer(ends)
    const response = (await askOperation(row, input, { place, options })) as AnswerOf<Row>
    output.value(face.value === undefined ? (response as JsonObject) : face.value(response))
    answer(face.print(response, output, input, options) === 1 ? 1 : 0)
  })
}

function addField(command: Command, flag: string, field: Field | undefined): void {
  const { doc: text = '', required, default: unset, shape } = field ?? {}
  const doc = shape?.kind === 'time' ? `${text}, or \`12h\`, \`30d\` from now` : text
  if (!flag.startsWith('-')) command.argument(flag, doc)
  else if (required === true) command.requiredOption(flag, doc)
  else if (shape?.kind === 'boolean' || unset === undefined) command.option(flag, doc)
  else command.option(flag, doc, String(unset))
}

const PLACEHOLDERS: Partial<Record<Shape['kind'], string>> = {
  form: 'name',
  integer: 'n',
  list: 'a,b',
  time: 'time',
  duration: 'time',
}

function flagsOf({ input }: Operation, args: readonly string[]): Record<string, string> {
  const written = ([field, { shape }]: [string, Field]) => {
    const flag = `--${field.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
    if (args.includes(field)) return [field, `<${field}>`]
    if (shape.kind === 'boolean') return [field, flag]
    return [field, `${flag} <${PLACEHOLDERS[shape.kind] ?? 'text'}>`]
  }
  return Object.fromEntries(Object.entries(input).map(written))
}

/** Throws if what was typed does not fit the field, before a PIN is asked for. */
function readField(field: Field | undefined, flag: string, typed: unknown): JsonValue {
  if (field === undefined || typeof typed !== 'string') return typed as JsonValue
  const [what = flag] = flag.split(' ')
  const { shape } = field
  if (shape.kind === 'time') return new Date(readTime(typed, what, true) as number).toISOString()
  const value = fromText(shape, typed)
  const problems = new Problems('', '')
  checkShape(locateValue(value), shape, what, problems)
  const [first] = problems.sorted()
  if (first !== undefined) throw new CliError('CLI_ARGUMENT', first.message, first.help)
  return value
}
