// Tries a call of a tool: a field for each argument that its schema declares, under a grant of one's
// choice, through the whole gate. It has its effects, so it needs the passkey.

import { type JSX, useMemo, useState } from 'react'
import type {
  ToolPage,
  TriedCall,
} from '../../../../packages/sluice/src/admin/contract/contract.ts'
import type { GrantList } from '../../../../packages/sluice/src/core/grant-fields.ts'
import { formatQuery } from '../../api.ts'
import { useResource } from '../../resource.ts'
import { sendWithProof } from '../../session.ts'
import { Form, type FormField, type FormValues } from '../../ui/ask.tsx'
import { Link } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { toChoices } from '../../ui/fields.tsx'
import { Notice } from '../../ui/page.tsx'
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
  const [result, setResult] = useState<TriedCall & { readonly principal: string }>()
  const fields = useMemo(() => readFields(tool.inputSchema), [tool.inputSchema])
  const principals = [
    ...(value?.localUser === true ? ['local'] : []),
    ...(value?.grants ?? [])
      .filter(
        ({ revoked, until }) =>
          revoked === null && (until === null || Date.parse(until) > Date.now()),
      )
      .map((grant) => grant.name),
  ]
  const as = { name: AS, label: 'As', choices: toChoices(principals), value: principals[0] ?? '' }
  const findFault = (values: FormValues) => {
    if (writeArguments(fields, values) === undefined)
      return 'An argument cannot be read as its type.'
    return values[AS] === '' ? '' : undefined
  }
  const send = async (values: FormValues) => {
    const principal = values[AS] ?? ''
    const body = { server, name, principal, args: writeArguments(fields, values) }
    setResult({ ...(await sendWithProof<TriedCall>('POST', '/calls', body)), principal })
  }
  return (
    <Dialog title={`Try ${server}/${name}`} onClose={onClose} wide>
      <Form
        fields={[as, ...fields.map(toFormField)]}
        findFault={findFault}
        confirm="Make the call"
        icon="key"
        onSubmit={send}
      >
        <Notice kind="warn">
          This is a real call with its effects, decided and recorded like every other. The ledger
          says that you made it here.
        </Notice>
      </Form>
      {result !== undefined && (
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
    </Dialog>
  )
}

/** No name of an argument: those are not empty. */
const AS = ''

function toFormField({ name, kind, isRequired }: ArgumentField): FormField {
  const label = isRequired ? `${name} (required)` : name
  if (kind === 'json') return { name, label: `${label}, as JSON`, type: 'area' }
  if (kind !== 'boolean') return { name, label }
  const choices = ['', 'true', 'false'].map((one) => ({ value: one, says: one || 'not given' }))
  return { name, label, choices }
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
