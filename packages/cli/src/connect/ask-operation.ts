// An operation from the command line: asked of the running gate, or run by the command itself under the
// lock of the data directory; with the PIN of a person if the operation needs one. Simple commands are
// made from the row alone.

import type { AnswerOf, Operation } from '@sluice/gateway/operations/operation'
import { proofOf, runOperation } from '@sluice/gateway/operations/run-operation'
import { checkShape } from '@sluice/policy/document/check-shape'
import { fromText, locateValue } from '@sluice/policy/document/locate-value'
import { Problems } from '@sluice/policy/document/problem'
import type { Field, FieldValues, Shape } from '@sluice/policy/document/shape'
import { InputError, type OperationError } from '@sluice/policy/structures/operation-error'
import type { JsonObject, JsonValue } from '@sluice/policy/values/json'
import type { Command } from 'commander'
import { addOptions, type Flags, type OptionsOf } from '../terminal/define-command.ts'
import { ArgumentError, CliError } from '../terminal/errors.ts'
import type { SetExitCode } from '../terminal/exit-code.ts'
import { Output } from '../terminal/output.ts'
import { DATA, type DataOptions, findData } from './find-data.ts'
import { type AskOptions, askGate } from './gate-socket.ts'
import { type DataPlace, type OfflineParts, withOfflineParts } from './offline-parts.ts'
import { PROOF, type ProofOptions, provePerson } from './prove-person.ts'
import { readTime } from './read-option.ts'
import { runOnOwner } from './run-on-owner.ts'

/** Asks the owner of a data directory for operations, and the person for a PIN at most once. */
export class OperationClient<Place extends DataPlace = DataPlace> {
  readonly place: Place
  readonly #options: ProofOptions
  #proof: Promise<JsonObject> | undefined

  constructor(place: Place, options: ProofOptions) {
    this.place = place
    this.#options = options
  }

  prove(): Promise<JsonObject> {
    this.#proof ??= provePerson(this.place.data, this.#options)
    return this.#proof
  }

  /** `offline` is the row to run if no gate does, where it is another. */
  async ask<Row extends Operation>(
    row: Row,
    input: FieldValues<Row['input']>,
    how: {
      readonly offline?: (parts: OfflineParts) => Operation
      readonly signal?: AbortSignal
    } = {},
  ): Promise<AnswerOf<Row>> {
    const { data } = this.place
    const fields = input as JsonObject
    const proof = proofOf(row, fields) === 'none' ? {} : { proof: await this.prove() }
    const request = { ...fields, do: row.socket ?? row.name, ...proof }
    const answer =
      row.needsGate && how.offline === undefined
        ? askRunningGate(data, request, how)
        : runOnOwner(data, request, () =>
            withOfflineParts(this.place, (parts) =>
              runOperation(how.offline?.(parts) ?? row, parts, request),
            ),
          )
    return (await answer) as AnswerOf<Row>
  }
}

/** What the running gate answers to an operation without input; undefined if none runs. */
export async function askIfRunning<Row extends Operation>(
  data: string,
  row: Row,
  how: AskOptions = {},
): Promise<AnswerOf<Row> | undefined> {
  return (await askGate(data, { do: row.socket ?? row.name }, how)) as AnswerOf<Row> | undefined
}

async function askRunningGate(
  data: string,
  request: JsonObject & { readonly do: string },
  how: AskOptions,
): Promise<JsonObject> {
  const answer = await askGate(data, request, how)
  if (answer !== undefined) return answer
  throw new CliError(
    'CLI_GATE',
    'no gate runs on this data directory',
    'a client starts one when it needs it, or `sluice up`: requests that were open are kept',
  )
}

type Inputs<Row extends Operation> = FieldValues<Row['input']>

export interface OperationCommand<Row extends Operation, Place extends DataPlace, Extra> {
  readonly row: Row
  /** If it is not the last word of the row's name. */
  readonly name?: string
  /** Fields that are arguments, and how they are written: `<name>`. The others are options. */
  readonly args?: { readonly [Field in keyof Row['input']]?: string }
  /** Fields that the command fills in by itself. */
  readonly omit?: readonly (keyof Row['input'] & string)[]
  /** Options of the command alone. */
  readonly options?: Extra
  readonly description?: string
  readonly examples?: string
  /** Where the data is; as `--config` and `--data` say unless given. */
  readonly find?: (options: DataOptions, output: Output) => Place
  /** Before a person is asked for a PIN: why not, or the exit code if the command ends here. */
  readonly before?: (
    input: Inputs<Row>,
    place: Place,
    options: OptionsOf<Extra>,
    output: Output,
  ) => OperationError | 0 | 1 | undefined
  /** For a command that asks for more than the one operation, or fills in fields. Undefined if nothing was
   * done after all: the exit code is 1. */
  readonly ask?: (
    client: OperationClient<Place>,
    input: Inputs<Row>,
    options: DataOptions & OptionsOf<Extra>,
    output: Output,
  ) => Promise<AnswerOf<Row> | undefined>
  /** What a person reads; 1 if that is the exit code. */
  readonly print: (
    answer: AnswerOf<Row>,
    output: Output,
    input: Inputs<Row>,
    options: OptionsOf<Extra>,
  ) => unknown
  /** What `--json` prints, if not the answer. */
  readonly value?: (answer: AnswerOf<Row>) => unknown
}

/** A command that asks for one operation and prints its answer. */
export function addOperationCommand<
  Row extends Operation,
  Place extends DataPlace,
  // biome-ignore lint/complexity/noBannedTypes: without a table there are no values
  const Extra extends Flags = {},
>(parent: Command, answer: SetExitCode, face: OperationCommand<Row, Place, Extra>): void {
  const { row, description = row.summary, find = findData } = face
  const { name = row.name.replace(/^.*\./, '') } = face
  const command = parent.command(name).description(description)
  const written: Readonly<Record<string, string | undefined>> = face.args ?? {}
  const args = Object.keys(written)
  const options = Object.keys(row.input).filter((field) => !args.includes(field))
  const flags = [...args, ...options.filter((field) => !face.omit?.includes(field))].map(
    (field) => [field, written[field] ?? toFlag(field, row.input[field])] as const,
  )
  for (const [field, flag] of flags) addField(command, flag, row.input[field])
  addOptions(command, { ...face.options, ...DATA, '--json': 'print JSON' })
  if (row.proof !== 'none') addOptions(command, PROOF)
  if (face.examples !== undefined) command.addHelpText('after', face.examples)
  command.action(async (...values: unknown[]) => {
    const options = values.at(-2) as DataOptions & OptionsOf<Extra> & Record<string, unknown>
    const output = new Output(options)
    const named = flags.flatMap(([field, flag]) => {
      const at = args.indexOf(field)
      const value = at < 0 ? options[field] : values[at]
      return value === undefined ? [] : [[field, readField(row.input[field], flag, value)]]
    })
    const input = Object.fromEntries(named) as Inputs<Row>
    const place = find(options, output) as Place
    const ends = face.before?.(input, place, options, output)
    if (ends instanceof InputError) throw new ArgumentError(ends.message, ends.help)
    if (typeof ends === 'object') {
      const { message, help } = ends
      output.remark(`sluice: ${message}\n  help: ${help}`)
      output.value({ error: { code: null, message, help } })
      return answer(1)
    }
    if (ends !== undefined) return answer(ends)
    const client = new OperationClient(place, options)
    const { ask = () => client.ask(row, input) } = face
    const response = await ask(client, input, options, output)
    if (response === undefined) return answer(1)
    output.value(face.value === undefined ? response : face.value(response))
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

function toFlag(field: string, { shape }: Field = { shape: { kind: 'any' }, doc: '' }): string {
  const flag = `--${field.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
  return shape.kind === 'boolean' ? flag : `${flag} <${PLACEHOLDERS[shape.kind] ?? 'text'}>`
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
  if (first !== undefined) throw new ArgumentError(first.message, first.help)
  return value
}
