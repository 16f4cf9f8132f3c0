// The form of a standing approval: calls like this one pass without a new request. How long, how
// often, in which sessions, and for each argument whether it must be equal or may vary within bounds.

import type { JSX } from 'react'
import type {
  ApprovalRequest,
  ArgumentBound,
  LinesView,
  StandingTerms,
} from '../../../../src/contract/contract.ts'
import { fetchResource } from '../../resource.ts'
import { SelectField, TextField } from '../../ui/fields.tsx'
import { UntrustedText } from '../../ui/text.tsx'
import { pathOf } from './inbox.ts'
import { parseMembers } from './members.ts'
import { LinesOfSession } from './session-lines.tsx'

export const DURATIONS = [
  { value: '', says: 'This call only' },
  { value: '900000', says: 'Calls like this for 15 min' },
  { value: '3600000', says: 'Calls like this for 1 h' },
  { value: '28800000', says: 'Calls like this for 8 h' },
]

const MASK = /\[masked: \d+ characters?\]/
const SHOWN_LENGTH = 60

type BoundKind = 'exact' | 'any' | 'range' | 'list' | 'lines' | 'below'

interface BoundFormState {
  readonly kind: BoundKind
  readonly min: string
  readonly max: string
  /** One per line; of `lines` the line that has the families. */
  readonly list: string
}

export interface StandingFormState {
  readonly forMs: string
  readonly calls: string
  /** `this`: only the session of the call. */
  readonly session: 'this' | 'any'
  readonly bounds: Readonly<Record<string, BoundFormState>>
}

/** Where the gate suggests a line for a request; undefined if it is for no command. */
export function suggestionPath({ id, command }: ApprovalRequest): string | undefined {
  return command && `${pathOf(id)}/lines`
}

/** For this call only; what is chosen first if it is to be for a while. */
export function beginForm(
  { command }: ApprovalRequest,
  suggested: string | null,
): StandingFormState {
  const once: StandingFormState = { forMs: '', calls: '', session: 'any', bounds: {} }
  if (command === undefined) return once
  const bounds: Record<string, BoundFormState> = {
    cwd: { ...EXACT, kind: 'below' },
    ...(suggested === null ? {} : { command: { ...EXACT, kind: 'lines', list: suggested } }),
  }
  return { ...once, session: 'this', bounds }
}

/** The terms of a form that is not for this call only. Throws if something is missing in it. */
export async function toStandingTerms(
  request: ApprovalRequest,
  form: StandingFormState,
  args: string,
): Promise<StandingTerms> {
  const { forMs, calls, session } = form
  const members = new Map(parseMembers(args) ?? [])
  const bounds: Record<string, ArgumentBound> = {}
  for (const [name, argument] of Object.entries(form.bounds)) {
    if (argument.kind === 'range' && argument.min === '' && argument.max === '')
      throw new Error(`Give ${name} a smallest or a largest value.`)
    const bound = toBound(argument, members.get(name))
    if (bound !== undefined) bounds[name] = bound
  }
  const path = linesPath(request, form)
  if (path !== undefined) {
    // Of this line and no other: what is shown may be of what was typed before.
    const { families, fault } = await fetchResource<LinesView>(path)
    if (fault !== null) throw new Error(fault)
    bounds.command = { lines: families }
  }
  const often = calls === '' ? {} : { calls: Number(calls) }
  return { forMs: Number(forMs), bounds, ...often, ...(session === 'this' && { session: true }) }
}

/** Where the gate reads the line of the form; undefined if the form has none. */
function linesPath(
  { id }: ApprovalRequest,
  { bounds: { command, cwd } }: StandingFormState,
): string | undefined {
  if (command?.kind !== 'lines') return undefined
  const directory = cwd?.kind === 'below' || cwd?.kind === 'any' ? cwd.kind : 'exact'
  return `${pathOf(id)}/lines?${new URLSearchParams({ line: command.list, directory })}`
}

function toBound(
  { kind, min, max, list }: BoundFormState,
  value: unknown,
): ArgumentBound | undefined {
  if (kind === 'any') return { any: true }
  if (kind === 'range') return { ...(min === '' ? {} : { min }), ...(max === '' ? {} : { max }) }
  // The gate reads the families of lines.
  if (kind === 'exact' || kind === 'lines') return undefined
  if (kind === 'below') return { below: String(value) }
  const isText = typeof value === 'string'
  const others = list.split('\n').filter((line) => line.trim() !== '')
  const texts = others.map((line) => (isText ? JSON.stringify(line) : line.trim()))
  return { oneOf: [...new Set([JSON.stringify(value), ...texts])] }
}

interface StandingFormProps {
  readonly request: ApprovalRequest
  readonly args: string
  readonly form: StandingFormState
  readonly onChange: (form: StandingFormState) => void
}

export function StandingForm({ request, args, form, onChange }: StandingFormProps): JSX.Element {
  const members = parseMembers(args) ?? []
  const path = linesPath(request, form)
  return (
    <fieldset className="stack while">
      <legend>Which calls are like this one</legend>
      <p className="muted small">
        The same caller, the same tool, the same definition of it, and these arguments. Everything
        else asks again.
      </p>
      {members.map(([name, value]) => (
        <Argument
          key={name}
          name={name}
          value={value}
          form={form.bounds[name] ?? EXACT}
          isShell={request.command !== undefined}
          onChange={(next) => onChange({ ...form, bounds: { ...form.bounds, [name]: next } })}
        />
      ))}
      {path !== undefined && <LinesOfSession path={path} />}
      <SelectField
        label="Where it holds"
        value={form.session}
        onChange={(session) => onChange({ ...form, session: session === 'this' ? 'this' : 'any' })}
        choices={[
          { value: 'this', says: 'only in this session' },
          { value: 'any', says: 'in every session of this caller' },
        ]}
      />
      <TextField
        label="Maximum calls"
        type="number"
        min={1}
        value={form.calls}
        onChange={(calls) => onChange({ ...form, calls })}
        placeholder="no limit"
      />
    </fieldset>
  )
}

const EXACT: BoundFormState = { kind: 'exact', min: '', max: '', list: '' }

interface ArgumentProps {
  readonly name: string
  readonly value: unknown
  readonly form: BoundFormState
  /** The tool is the shell of a coding agent. */
  readonly isShell: boolean
  readonly onChange: (form: BoundFormState) => void
}

function Argument({ name, value, form, isShell, onChange }: ArgumentProps): JSX.Element {
  const shown = typeof value === 'string' ? value : JSON.stringify(value)
  const isMasked = MASK.test(shown)
  const isNumber = /^-?\d/.test(JSON.stringify(value))
  const kinds = [
    { value: 'exact', says: isMasked ? 'exactly as it is' : `exactly ${ellipsize(shown)}` },
    ...(isNumber ? [{ value: 'range', says: 'a number between' }] : []),
    ...(isMasked ? [] : [{ value: 'list', says: 'this, or one of' }]),
    ...(isShell && name === 'command' ? [{ value: 'lines', says: 'a line of these words' }] : []),
    ...(isShell && name === 'cwd' ? [{ value: 'below', says: `${shown} and below` }] : []),
    { value: 'any', says: 'anything' },
  ]
  return (
    <div className="row while-row">
      <UntrustedText text={name} className="mono muted while-name" />
      <SelectField
        label={`What ${name} may be`}
        value={form.kind}
        onChange={(kind) => onChange({ ...form, kind: kind as BoundKind })}
        choices={kinds}
      />
      {form.kind === 'range' && (
        <>
          <TextField
            label={`${name}, at least`}
            quiet
            value={form.min}
            placeholder="at least (0)"
            onChange={(min) => onChange({ ...form, min: min.trim() })}
          />
          <TextField
            label={`${name}, at most`}
            quiet
            value={form.max}
            placeholder="at most"
            onChange={(max) => onChange({ ...form, max: max.trim() })}
          />
        </>
      )}
      {form.kind === 'lines' && (
        <TextField
          label="The words that a line has; * at the end allows more"
          mono
          value={form.list}
          onChange={(list) => onChange({ ...form, list })}
        />
      )}
      {form.kind === 'list' && (
        <TextField
          label={`Other values of ${name}, one a line`}
          quiet
          rows={2}
          value={form.list}
          placeholder={typeof value === 'string' ? 'one a line' : 'one a line, as JSON'}
          onChange={(list) => onChange({ ...form, list })}
        />
      )}
    </div>
  )
}

function ellipsize(text: string): string {
  return text.length > SHOWN_LENGTH ? `${text.slice(0, SHOWN_LENGTH)}…` : text
}
