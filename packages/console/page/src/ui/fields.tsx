// Fields with their labels: text, several lines, a select, and a choice as chips.

import { type ChangeEvent, type JSX, type ReactNode, useEffect, useId, useRef } from 'react'
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

interface LabelledProps {
  readonly id: string
  readonly label: string
  readonly quiet: boolean
  readonly className?: string
  readonly children: ReactNode
}

function Labelled({ id, label, quiet, className = '', children }: LabelledProps): JSX.Element {
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
  quiet = false,
  className = '',
  rows,
  mono = false,
  onChange,
  onEnter,
  suggestions,
  isFirst = false,
  ...rest
}: FieldProps & {
  type?: string
  className?: string
  min?: number
  /** It has several lines. */
  rows?: number
  mono?: boolean
  /** The form is sent. */
  onEnter?: () => void
  /** Offered while typing; anything else may be typed too. */
  suggestions?: readonly string[]
  /** Of a dialog: it has the focus when that opens. */
  isFirst?: boolean
}): JSX.Element {
  const id = useId()
  const input = useRef<HTMLInputElement & HTMLTextAreaElement>(null)
  useEffect(() => {
    if (!isFirst) return
    // A dialog over another has the focus only a moment after it opened.
    const frame = requestAnimationFrame(() => {
      if (input.current?.closest('[role="dialog"]')) input.current.focus({ preventScroll: true })
    })
    return () => cancelAnimationFrame(frame)
  }, [isFirst])
  const change = (event: ChangeEvent<HTMLInputElement | HTMLTextAreaElement>) =>
    onChange(event.target.value)
  return (
    <Labelled id={id} label={label} quiet={quiet} className={className}>
      {rows === undefined ? (
        <input
          {...rest}
          ref={input}
          id={id}
          className="input"
          list={suggestions === undefined ? undefined : `${id}-list`}
          autoComplete="off"
          spellCheck={false}
          onChange={change}
          onKeyDown={(event) => event.key === 'Enter' && onEnter?.()}
        />
      ) : (
        <textarea
          {...rest}
          ref={input}
          id={id}
          onKeyDown={({ key, ctrlKey, metaKey }) =>
            key === 'Enter' && (ctrlKey || metaKey) && onEnter?.()
          }
          rows={rows}
          className={mono ? 'area mono' : 'area'}
          onChange={change}
        />
      )}
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

export interface Choice {
  readonly value: string
  /** How people read the value. */
  readonly says: string
}

/** Each value is read as it is. */
export function toChoices(values: readonly string[]): Choice[] {
  return values.map((value) => ({ value, says: value }))
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
