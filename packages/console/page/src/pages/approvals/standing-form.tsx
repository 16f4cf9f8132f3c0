// The form of a standing approval: calls like this one pass without a new request. How long, how
// often, and for each argument whether it must be equal or may vary within bounds.

import type { JSX } from 'react'
import type { ArgumentBound, StandingTerms } from '../../../../src/contract/contract.ts'
import { SelectField, TextField } from '../../ui/fields.tsx'
import { UntrustedText } from '../../ui/text.tsx'
import { parseMembers } from './arguments.tsx'

export const DURATIONS = [
  { value: '', says: 'This call only' },
  { value: '900000', says: 'Calls like this for 15 min' },
  { value: '3600000', says: 'Calls like this for 1 h' },
  { value: '28800000', says: 'Calls like this for 8 h' },
]

const MASK = /\[masked: \d+ characters?\]/
const SHOWN_LENGTH = 60

type BoundKind = 'exact' | 'any' | 'range' | 'list'

interface BoundFormState {
  readonly kind: BoundKind
  readonly min: string
  readonly max: string
  /** One per line. */
  readonly list: string
}

export interface StandingFormState {
  readonly forMs: string
  readonly calls: string
  readonly bounds: Readonly<Record<string, BoundFormState>>
}

export const ONCE: StandingFormState = { forMs: '', calls: '', bounds: {} }

/** Undefined if it is for this call only. */
export function toStandingTerms(
  { forMs, calls, bounds: forms }: StandingFormState,
  args: string,
): StandingTerms | undefined {
  if (forMs === '') return undefined
  const members = new Map(parseMembers(args) ?? [])
  const bounds = Object.fromEntries(
    Object.entries(forms).flatMap(([name, form]): [string, ArgumentBound][] => {
      const bound = toBound(form, members.get(name))
      return bound === undefined ? [] : [[name, bound]]
    }),
  )
  return { forMs: Number(forMs), bounds, ...(calls === '' ? {} : { calls: Number(calls) }) }
}

/** What is missing in the form; undefined if nothing is. */
export function findFormFault({ forMs, bounds }: StandingFormState): string | undefined {
  if (forMs === '') return undefined
  const open = Object.entries(bounds).find(
    ([, { kind, min, max }]) => kind === 'range' && min === '' && max === '',
  )
  return open && `Give ${open[0]} a smallest or a largest value.`
}

function toBound(
  { kind, min, max, list }: BoundFormState,
  value: unknown,
): ArgumentBound | undefined {
  if (kind === 'any') return { any: true }
  if (kind === 'range') return { ...(min === '' ? {} : { min }), ...(max === '' ? {} : { max }) }
  if (kind === 'exact') return undefined
  const isText = typeof value === 'string'
  const others = list.split('\n').filter((line) => line.trim() !== '')
  const texts = others.map((line) => (isText ? JSON.stringify(line) : line.trim()))
  return { oneOf: [...new Set([JSON.stringify(value), ...texts])] }
}

interface StandingFormProps {
  readonly args: string
  readonly form: StandingFormState
  readonly onChange: (form: StandingFormState) => void
}

export function StandingForm({ args, form, onChange }: StandingFormProps): JSX.Element {
  const members = parseMembers(args) ?? []
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
          onChange={(next) => onChange({ ...form, bounds: { ...form.bounds, [name]: next } })}
        />
      ))}
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
  readonly onChange: (form: BoundFormState) => void
}

function Argument({ name, value, form, onChange }: ArgumentProps): JSX.Element {
  const shown = typeof value === 'string' ? value : JSON.stringify(value)
  const isMasked = MASK.test(shown)
  const isNumber = /^-?\d/.test(JSON.stringify(value))
  const kinds = [
    { value: 'exact', says: isMasked ? 'exactly as it is' : `exactly ${ellipsize(shown)}` },
    ...(isNumber ? [{ value: 'range', says: 'a number between' }] : []),
    ...(isMasked ? [] : [{ value: 'list', says: 'this, or one of' }]),
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
