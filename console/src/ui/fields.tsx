// Fields with their labels: text, several lines, a select, and a choice as chips.

import { type JSX, type ReactNode, useEffect, useId, useRef } from 'react'
import { ToggleButton } from 'react-aria-components/ToggleButton'
import { ToggleButtonGroup } from 'react-aria-components/ToggleButtonGroup'

interface FieldProps {
  readonly label: string
  readonly value: string
  readonly onChange: (value: string) => void
  readonly placeholder?: string
  /** For screen readers only. */
  readonly quiet?: boolean
}

function Labelled({
  id,
  label,
  quiet,
  className = '',
  children,
}: {
  readonly id: string
  readonly label: string
  readonly quiet: boolean
  readonly className?: string
  readonly children: ReactNode
}): JSX.Element {
  return (
    <div className={`field ${className}`}>
      <label htmlFor={id} className={quiet ? 'visually-hidden' : undefined}>
        {label}
      </label>
      {children}
    </div>
  )
}

export function TextField({
  label,
  value,
  onChange,
  placeholder,
  quiet = false,
  type = 'text',
  className = '',
  min,
  onEnter,
  suggestions,
  onFocus,
  isFirst = false,
}: FieldProps & {
  type?: string
  className?: string
  min?: number
  /** The form is sent. */
  onEnter?: () => void
  /** Offered while typing; anything else may be typed too. */
  suggestions?: readonly string[]
  onFocus?: () => void
  /** Of a dialog: it has the focus when that opens. */
  isFirst?: boolean
}): JSX.Element {
  const id = useId()
  const input = useRef<HTMLInputElement>(null)
  useEffect(() => {
    if (!isFirst) return
    // A dialog over another has the focus only a moment after it opened.
    const frame = requestAnimationFrame(() => input.current?.focus())
    return () => cancelAnimationFrame(frame)
  }, [isFirst])
  return (
    <Labelled id={id} label={label} quiet={quiet} className={className}>
      <input
        ref={input}
        id={id}
        className="input"
        type={type}
        min={min}
        list={suggestions === undefined ? undefined : `${id}-list`}
        onFocus={onFocus}
        value={value}
        placeholder={placeholder}
        autoComplete="off"
        spellCheck={false}
        onChange={(event) => onChange(event.target.value)}
        onKeyDown={(event) => event.key === 'Enter' && onEnter?.()}
      />
      {suggestions !== undefined && (
        <datalist id={`${id}-list`}>
          {suggestions.map((one) => (
            <option key={one} value={one} />
          ))}
        </datalist>
      )}
    </Labelled>
  )
}

export function TextArea({
  label,
  value,
  onChange,
  placeholder,
  quiet = false,
  rows = 3,
  mono = false,
}: FieldProps & { rows?: number; mono?: boolean }): JSX.Element {
  const id = useId()
  return (
    <Labelled id={id} label={label} quiet={quiet}>
      <textarea
        id={id}
        className={mono ? 'area mono' : 'area'}
        rows={rows}
        value={value}
        placeholder={placeholder}
        onChange={(event) => onChange(event.target.value)}
      />
    </Labelled>
  )
}

export interface Choice {
  readonly value: string
  readonly says: string
}

export function SelectField({
  label,
  value,
  onChange,
  choices,
  quiet = true,
}: Omit<FieldProps, 'placeholder'> & { choices: readonly Choice[] }): JSX.Element {
  const id = useId()
  return (
    <Labelled id={id} label={label} quiet={quiet}>
      <select
        id={id}
        className="pick"
        value={value}
        onChange={(event) => onChange(event.target.value)}
      >
        {choices.map((choice) => (
          <option key={choice.value} value={choice.value}>
            {choice.says}
          </option>
        ))}
      </select>
    </Labelled>
  )
}

export function Chips({
  label,
  value,
  onChange,
  choices,
}: Omit<FieldProps, 'placeholder' | 'quiet'> & { choices: readonly Choice[] }): JSX.Element {
  return (
    <ToggleButtonGroup
      aria-label={label}
      className="chips"
      selectionMode="single"
      disallowEmptySelection
      selectedKeys={[value]}
      onSelectionChange={(keys) => onChange(String([...keys][0]))}
    >
      {choices.map((choice) => (
        <ToggleButton key={choice.value} id={choice.value} className="chip">
          {choice.says}
        </ToggleButton>
      ))}
    </ToggleButtonGroup>
  )
}
