// Fields with their labels: text, several lines, text with suggestions, a select, and a choice as chips.

import { type JSX, useEffect, useRef } from 'react'
import { Button } from 'react-aria-components/Button'
import { ComboBox } from 'react-aria-components/ComboBox'
import { Input } from 'react-aria-components/Input'
import { Label } from 'react-aria-components/Label'
import { ListBox, ListBoxItem } from 'react-aria-components/ListBox'
import { Popover } from 'react-aria-components/Popover'
import { Select, SelectValue } from 'react-aria-components/Select'
import { TextArea } from 'react-aria-components/TextArea'
import { TextField as AriaTextField } from 'react-aria-components/TextField'
import { ToggleButton } from 'react-aria-components/ToggleButton'
import { ToggleButtonGroup } from 'react-aria-components/ToggleButtonGroup'
import { Icon } from './icons.tsx'

interface FieldProps {
  readonly label: string
  readonly value: string
  readonly onChange: (value: string) => void
  readonly placeholder?: string
  /** For screen readers only. */
  readonly quiet?: boolean
}

export function TextField({
  label,
  quiet = false,
  className = '',
  rows,
  mono = false,
  value,
  onChange,
  onEnter,
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
  /** Of a dialog: it has the focus when that opens. */
  isFirst?: boolean
}): JSX.Element {
  const input = useRef<HTMLInputElement & HTMLTextAreaElement>(null)
  useEffect(() => {
    if (!isFirst) return
    // A dialog over another has the focus only a moment after it opened.
    const frame = requestAnimationFrame(() => {
      if (input.current?.closest('[role="dialog"]')) input.current.focus({ preventScroll: true })
    })
    return () => cancelAnimationFrame(frame)
  }, [isFirst])
  return (
    <AriaTextField className={`field ${className}`} value={value} onChange={onChange}>
      <Label className={quiet ? 'visually-hidden' : undefined}>{label}</Label>
      {rows === undefined ? (
        <Input
          {...rest}
          ref={input}
          className="input"
          autoComplete="off"
          spellCheck={false}
          onKeyDown={({ key }) => key === 'Enter' && onEnter?.()}
        />
      ) : (
        <TextArea
          {...rest}
          ref={input}
          rows={rows}
          className={mono ? 'area mono' : 'area'}
          onKeyDown={({ key, ctrlKey, metaKey }) =>
            key === 'Enter' && (ctrlKey || metaKey) && onEnter?.()
          }
        />
      )}
    </AriaTextField>
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
  return (
    <Select
      className="field"
      value={value}
      onChange={(next) => next !== null && onChange(String(next))}
    >
      <Label className={quiet ? 'visually-hidden' : undefined}>{label}</Label>
      <Button className="pick">
        <SelectValue className="cut" />
        <Icon name="down" size={12} />
      </Button>
      <Popover className="popover scroll">
        <ListBox className="menu">
          {choices.map((choice) => (
            <ListBoxItem
              key={choice.value}
              id={choice.value}
              textValue={choice.says}
              className="menu-item"
            >
              {choice.says}
            </ListBoxItem>
          ))}
        </ListBox>
      </Popover>
    </Select>
  )
}

interface SuggestingFieldProps extends Omit<FieldProps, 'quiet' | 'placeholder'> {
  readonly placeholder: string
  /** They fit what was typed. */
  readonly suggestions: readonly string[]
  /** A suggestion was chosen. */
  readonly onChosen: (suggestion: string) => void
  /** The text was entered, which need not be a suggestion. */
  readonly onEnter: () => void
}

/** One line of text that is searched for by its caller as it is typed. */
export function SuggestingField({
  label,
  value,
  placeholder,
  suggestions,
  onChange,
  onChosen,
  onEnter,
}: SuggestingFieldProps): JSX.Element {
  return (
    <ComboBox
      className="field search"
      aria-label={label}
      allowsCustomValue
      menuTrigger="input"
      items={suggestions.map((id) => ({ id }))}
      inputValue={value}
      onInputChange={onChange}
      value={null}
      onChange={(chosen) => chosen !== null && onChosen(String(chosen))}
    >
      <Input
        className="input"
        placeholder={placeholder}
        spellCheck={false}
        onKeyDown={({ key, currentTarget }) => {
          const isChoosing = currentTarget.getAttribute('aria-activedescendant') !== null
          if (key === 'Enter' && !isChoosing) onEnter()
        }}
      />
      <Popover className="popover scroll">
        <ListBox<{ id: string }> className="menu">
          {({ id }) => (
            <ListBoxItem textValue={id} className="menu-item">
              {id}
            </ListBoxItem>
          )}
        </ListBox>
      </Popover>
    </ComboBox>
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
