// Tries a call of a tool: a field for each argument that its schema declares, under a grant of one's
// choice, through the whole gate. It has its effects, so it needs the passkey.

import { type JSX, useMemo, useState } from 'react'
import type {
  ToolPage,
  TriedCall,
} from '../../../../packages/sluice/src/admin/contract/contract.ts'
import type { GrantList } from '../../../../packages/sluice/src/core/grant-fields.ts'
import { type ApiError, formatQuery, toApiError } from '../../api.ts'
import { useResource } from '../../resource.ts'
import { sendWithProof } from '../../session.ts'
import { Button, Link } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { SelectField, TextArea, TextField } from '../../ui/fields.tsx'
import { Icon } from '../../ui/icons.tsx'
import { ErrorNotice, Notice } from '../../ui/page.tsx'
import { LongText } from '../../ui/text.tsx'
import { millis } from '../../ui/words.ts'

interface ArgumentField {
  readonly name: string
  readonly kind: 'text' | 'number' | 'boolean' | 'json'
  readonly isRequired: boolean
}

export function TryCall({ tool, onClose }: { tool: ToolPage; onClose: () => void }): JSX.Element {
  const { server, name } = tool
  const { value } = useResource<GrantList>('/grants')
  const fields = useMemo(() => readFields(tool.inputSchema), [tool.inputSchema])
  const [values, setValues] = useState<Readonly<Record<string, string>>>({})
  const [principal, setPrincipal] = useState('')
  const [result, setResult] = useState<(TriedCall & { readonly principal: string }) | 'busy'>()
  const [error, setError] = useState<ApiError>()
  const principals = [
    ...(value?.localUser === true ? ['local'] : []),
    ...(value?.grants ?? [])
      .filter(
        ({ revoked, until }) =>
          revoked === null && (until === null || Date.parse(until) > Date.now()),
      )
      .map((grant) => grant.name),
  ]
  const chosen = principal === '' ? (principals[0] ?? '') : principal
  const args = writeArguments(fields, values)
  const send = () => {
    if (args === undefined || chosen === '' || result === 'busy') return
    setResult('busy')
    setError(undefined)
    const body = { server, name, principal: chosen, args }
    sendWithProof<TriedCall>('POST', '/calls', body).then(
      (tried) => setResult({ ...tried, principal: chosen }),
      (fault) => {
        setResult(undefined)
        setError(toApiError(fault))
      },
    )
  }
  return (
    <Dialog title={`Try ${server}/${name}`} onClose={onClose} wide>
      <Notice kind="warn">
        This is a real call with its effects, decided and recorded like every other. The ledger says
        that you made it here.
      </Notice>
      <SelectField
        label="As"
        quiet={false}
        value={chosen}
        onChange={setPrincipal}
        choices={principals.map((one) => ({ value: one, says: one }))}
      />
      {fields.map((field) => (
        <Argument
          key={field.name}
          field={field}
          value={values[field.name] ?? ''}
          onChange={(text) => setValues({ ...values, [field.name]: text })}
        />
      ))}
      {args === undefined && <Notice kind="bad">An argument cannot be read as its type.</Notice>}
      {error !== undefined && <ErrorNotice error={error} />}
      {result !== undefined && result !== 'busy' && (
        <section className="stack" aria-label="Answer">
          <Notice kind={result.isError ? 'bad' : 'good'}>
            {result.isError ? 'Refused or failed' : 'Answered'} after {millis(result.durationMs)}.{' '}
            <Link
              to={`/ledger${formatQuery({ server, name, principal: result.principal, sinceMs: result.atMs })}`}
            >
              See its record
            </Link>
          </Notice>
          <LongText text={result.answer} code />
        </section>
      )}
      <div className="row">
        <Button kind="primary" isDisabled={args === undefined || chosen === ''} onPress={send}>
          <Icon name="key" /> {result === 'busy' ? 'Calling…' : 'Make the call'}
        </Button>
      </div>
    </Dialog>
  )
}

function Argument({
  field: { name, kind, isRequired },
  value,
  onChange,
}: {
  field: ArgumentField
  value: string
  onChange: (text: string) => void
}): JSX.Element {
  const label = isRequired ? `${name} (required)` : name
  if (kind === 'boolean')
    return (
      <SelectField
        label={label}
        quiet={false}
        value={value}
        onChange={onChange}
        choices={['', 'true', 'false'].map((one) => ({ value: one, says: one || 'not given' }))}
      />
    )
  if (kind === 'json')
    return <TextArea label={`${label}, as JSON`} mono rows={3} value={value} onChange={onChange} />
  return <TextField label={label} value={value} onChange={onChange} />
}

/** A schema that declares no properties takes any object. */
function readFields(schema: string): ArgumentField[] {
  try {
    const { properties = {}, required = [] } = JSON.parse(schema) as {
      properties?: Record<string, { type?: unknown }>
      required?: readonly string[]
    }
    return Object.entries(properties).map(([name, { type }]) => ({
      name,
      kind: toKind(type),
      isRequired: required.includes(name),
    }))
  } catch {
    return []
  }
}

function toKind(type: unknown): ArgumentField['kind'] {
  if (type === 'string') return 'text'
  if (type === 'number' || type === 'integer') return 'number'
  return type === 'boolean' ? 'boolean' : 'json'
}

/** Fields that are left empty are not sent; undefined if one cannot be read. */
function writeArguments(
  fields: readonly ArgumentField[],
  values: Readonly<Record<string, string>>,
): string | undefined {
  const members: string[] = []
  for (const { name, kind } of fields) {
    const text = values[name] ?? ''
    if (text === '') continue
    const value = kind === 'text' ? JSON.stringify(text) : text.trim()
    if (!isJson(value)) return undefined
    members.push(`${JSON.stringify(name)}: ${value}`)
  }
  return `{ ${members.join(', ')} }`
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
