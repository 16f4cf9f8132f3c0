// Tries a call of a tool: a field for each argument that its schema declares, under a grant of one's
// choice, and what would be decided on it. The call is not made.

import type { GrantList } from '@sluice/access/identity/grant-fields'
import { attempt } from '@sluice/policy/structures/attempt'
import { type JSX, useMemo, useState } from 'react'
import type { ToolPage } from '../../../../src/contract/contract.ts'
import { post } from '../../api.ts'
import { useResource } from '../../resource.ts'
import { Form, type FormField, type FormValues } from '../../ui/ask.tsx'
import { listDeclared } from '../../ui/declared-arguments.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { toChoices } from '../../ui/fields.tsx'
import { OutcomeBadge, toOutcomeLabel } from '../../ui/marks.tsx'
import { GateText } from '../../ui/text.tsx'
import { formatPointer } from '../../ui/words.ts'

/** The answer of `POST /api/decide`. */
interface ToldDecision {
  readonly action: string
  readonly code: string
  readonly reason: string
  readonly rule: string
}

interface ArgumentField {
  readonly name: string
  readonly kind: 'text' | 'number' | 'boolean' | 'json'
  readonly isRequired: boolean
}

export function TryCall({ tool, onClose }: { tool: ToolPage; onClose: () => void }): JSX.Element {
  const { server, name } = tool
  const { value } = useResource<GrantList>('/grants')
  const [result, setResult] = useState<ToldDecision>()
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
    setResult(await post<ToldDecision>('/decide', body))
  }
  return (
    <Dialog title={`Try ${server}/${name}`} onClose={onClose} wide>
      <Form
        fields={[as, ...fields.map(toFormField)]}
        findFault={findFault}
        confirm="Ask what is decided"
        onSubmit={send}
      >
        <p className="muted">
          Decided as the first call of a new session: nothing is sent, held or counted. The ledger
          says that you asked.
        </p>
      </Form>
      {result !== undefined && (
        <section className="stack" aria-label="Decision">
          <div className="row">
            <OutcomeBadge word={toOutcomeLabel(result.action)} />
            <code>{result.code}</code>
            {result.rule !== '' && <span className="muted">rule {formatPointer(result.rule)}</span>}
          </div>
          {result.reason !== '' && <GateText text={result.reason} />}
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
  return listDeclared(schema).map(({ type, ...declared }) => ({ ...declared, kind: toKind(type) }))
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
    if (attempt(() => JSON.parse(value)) === undefined) return undefined
    members.push(`${JSON.stringify(name)}: ${value}`)
  }
  return `{ ${members.join(', ')} }`
}
