// A form in a dialog, or only the question whether to go on, before something is done. What the gate
// refuses is said in the dialog, which closes when it is done.

import { type JSX, lazy, type ReactNode, Suspense, useState } from 'react'
import { type ApiError, toApiError } from '../api.ts'
import { Button, type ButtonKind } from './button.tsx'
import { Dialog } from './dialog.tsx'
import { Chips, type Choice, SelectField, TextField } from './fields.tsx'
import { Icon, type IconName } from './icons.tsx'
import { ErrorNotice, Notice } from './page.tsx'

const DateTimeField = lazy(async () => ({
  default: (await import('./date-time.tsx')).DateTimeField,
}))

export type FormValues = Readonly<Record<string, string>>

export interface FormField {
  readonly name: string
  readonly label: string
  /** As of an input; `area` has several lines, `chips` shows all choices, the value of `time` is in milliseconds. */
  readonly type?: 'text' | 'number' | 'password' | 'area' | 'chips' | 'time'
  readonly choices?: readonly Choice[]
  readonly placeholder?: string
  readonly rows?: number
  /** At first. */
  readonly value?: string
}

export interface FormProps {
  readonly fields?: readonly FormField[] | ((values: FormValues) => readonly FormField[])
  /** What the button says. */
  readonly confirm: string
  readonly icon?: IconName
  readonly kind?: ButtonKind
  /** Why it cannot be sent: empty if something is only missing, undefined if nothing is. */
  readonly findFault?: (values: FormValues) => string | undefined
  readonly onSubmit: (values: FormValues) => unknown
  readonly onCancel?: (() => void) | undefined
  /** Empty again when it was sent. */
  readonly clears?: boolean
  /** Above the fields. */
  readonly children?: ReactNode
}

export function Form(props: FormProps): JSX.Element {
  const { confirm, icon, kind = 'primary', findFault, onSubmit, onCancel, children } = props
  const [given, setGiven] = useState<FormValues>({})
  const [error, setError] = useState<ApiError>()
  const [busy, setBusy] = useState(false)
  const { fields = [] } = props
  const listed = typeof fields === 'function' ? fields(given) : fields
  const values = Object.fromEntries(
    listed.map(({ name, value = '' }) => [name, given[name] ?? value]),
  )
  const fault = findFault?.(values)
  const send = async () => {
    // Not disabled meanwhile: a button that is would lose the focus, and Escape with it.
    if (busy || fault !== undefined) return
    setBusy(true)
    setError(undefined)
    try {
      await onSubmit(values)
      if (props.clears) setGiven({})
    } catch (refused) {
      setError(toApiError(refused))
    } finally {
      setBusy(false)
    }
  }
  const first = listed.find(({ choices }) => choices === undefined)
  return (
    <>
      {children}
      {listed.map((field) => (
        <Field
          key={field.name}
          field={field}
          value={values[field.name] ?? ''}
          isFirst={field === first}
          onChange={(value) => setGiven({ ...given, [field.name]: value })}
          onEnter={() => void send()}
        />
      ))}
      {fault !== undefined && fault !== '' && <Notice kind="bad">{fault}</Notice>}
      {error !== undefined && <ErrorNotice error={error} />}
      <div className="row">
        <Button kind={kind} isDisabled={fault !== undefined} onPress={() => void send()}>
          {icon !== undefined && <Icon name={icon} />} {confirm}
        </Button>
        {onCancel !== undefined && (
          <Button kind="quiet" onPress={onCancel}>
            Cancel
          </Button>
        )}
      </div>
    </>
  )
}

interface OneField {
  readonly field: FormField
  readonly value: string
  readonly isFirst: boolean
  readonly onChange: (value: string) => void
  readonly onEnter: () => void
}

function Field({ field, isFirst, onEnter, ...state }: OneField): JSX.Element {
  const { name: _, value: __, type = 'text', choices, rows, ...rest } = field
  if (choices !== undefined)
    return type === 'chips' ? (
      <Chips {...rest} {...state} choices={choices} />
    ) : (
      <SelectField {...rest} {...state} quiet={false} choices={choices} />
    )
  if (type === 'time')
    return (
      <Suspense>
        <DateTimeField
          label={field.label}
          value={state.value === '' ? undefined : Number(state.value)}
          onChange={(ms) => state.onChange(String(ms ?? ''))}
        />
      </Suspense>
    )
  const common = { ...rest, ...state, isFirst, onEnter }
  if (type === 'area') return <TextField {...common} mono rows={rows ?? 3} />
  return <TextField {...common} type={type} />
}

interface AskProps extends FormProps {
  readonly title: string
  readonly onClose: () => void
}

export function Ask({ title, onClose, onSubmit, ...form }: AskProps): JSX.Element {
  const send = async (values: FormValues) => {
    await onSubmit(values)
    onClose()
  }
  return (
    <Dialog title={title} onClose={onClose}>
      <Form {...form} onSubmit={send} onCancel={onClose} />
    </Dialog>
  )
}

/** A button that asks first. */
export function AskButton({
  says,
  button = 'plain',
  ...ask
}: Omit<AskProps, 'onClose'> & { says: ReactNode; button?: ButtonKind }): JSX.Element {
  const [isAsking, setAsking] = useState(false)
  return (
    <>
      <Button kind={button} onPress={() => setAsking(true)}>
        {says}
      </Button>
      {isAsking && <Ask {...ask} onClose={() => setAsking(false)} />}
    </>
  )
}
