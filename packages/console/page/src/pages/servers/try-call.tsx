// Tries a call of a tool: a field for each argument that its schema declares, under a grant of one's
// choice, and what would be decided on it, also under a text that is being edited. The call is not made.

import type { GrantList } from '@sluice/access/identity/grant-fields'
import { attempt } from '@sluice/policy/structures/attempt'
import { type JSX, useMemo, useState } from 'react'
import type { PolicyDraft, ToolPage, TriedDecision } from '../../../../src/contract/contract.ts'
import { post } from '../../api.ts'
import { useResource } from '../../resource.ts'
import { Form, type FormField, type FormValues } from '../../ui/ask.tsx'
import { listDeclared } from '../../ui/declared-arguments.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { toChoices } from '../../ui/fields.tsx'
import { OutcomeBadge, toOutcomeLabel } from '../../ui/marks.tsx'
import { GateText } from '../../ui/text.tsx'
import { formatPointer } from '../../ui/words.ts'

interface ArgumentField {
  readonly name: string
  readonly kind: 'text' | 'number' | 'boolean' | 'json'
  readonly isRequired: boolean
}

/** What is decided, by where it is. */
type Decisions = Readonly<Record<string, TriedDecision>>

interface TryCallProps {
  readonly tool: ToolPage
  /** A text that is being edited; undefined if the gate is asked. */
  readonly draft?: { readonly name: string; readonly text: string }
  readonly onClose: () => void
}

export function TryCall({ tool, draft, onClose }: TryCallProps): JSX.Element {
  const { server, name } = tool
  const { value } = useResource<GrantList>('/grants')
  const [result, setResult] = useState<Decisions>()
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
    const call = { server, name, principal, args: writeArguments(fields, values) }
    if (draft === undefined)
      return setResult({ Decision: await post<TriedDecision>('/decide', call) })
    const { tried } = await post<PolicyDraft>('/policy/draft', { ...draft, call })
    if (tried === undefined) throw new Error('The text has errors.')
    setResult({ 'Under your text': tried.draft, 'As it is in force': tried.inForce })
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
          Decided as the first call of a new session: nothing is sent, held or counted.{' '}
          {draft === undefined && 'The ledger says that you asked.'}
        </p>
      </Form>
      {Object.entries(result ?? {}).map(([title, { action, code, rule, reason }]) => (
        <section key={title} className="stack" aria-label={title}>
          <h3>{title}</h3>
          <div className="row">
            <OutcomeBadge word={toOutcomeLabel(action)} />
            <code>{code}</code>
            {rule !== '' && <span className="muted">rule {formatPointer(rule)}</span>}
          </div>
          {reason !== '' && <GateText text={reason} />}
        </section>
      ))}
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
