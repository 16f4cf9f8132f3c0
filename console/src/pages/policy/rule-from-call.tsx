// From a recorded call to a rule for its tool: always allow, ask from a value of an argument on, or
// never. Ends in the save dialog, with what the rule would have done to recorded calls.

import { type JSX, useEffect, useMemo, useState } from 'react'
import type {
  CallExplanation,
  PolicyDocumentView,
  PolicyDraft,
  PolicyView,
  ToolPage,
} from '../../../../packages/sluice/src/admin/contract/contract.ts'
import { type ApiError, formatQuery, post, toApiError } from '../../api.ts'
import { useResource } from '../../resource.ts'
import { pathTo } from '../../route.ts'
import { Button, Link } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { SelectField, TextField } from '../../ui/fields.tsx'
import { ErrorNotice, Loading, Notice } from '../../ui/page.tsx'
import { UntrustedText } from '../../ui/text.tsx'
import { nameRecord } from '../../ui/words.ts'
import { type PolicyTest, SaveDialog } from './save.tsx'

export type NewRuleAction = 'allow' | 'require_approval' | 'deny'

interface AskedFrom {
  readonly argument: string
  readonly value: string
}

/** A number that a rule may be written with. */
const VALUE = /^\d{1,15}(\.\d{1,15})?$/
const NAME = /^[A-Za-z_]\w{0,63}$/

export function RuleFromCall({
  call,
  action,
  onClose,
}: {
  call: CallExplanation
  action: NewRuleAction
  onClose: () => void
}): JSX.Element {
  const { value, error } = useResource<PolicyView>('/policy', undefined, true)
  const [from, setFrom] = useState<AskedFrom>()
  const [isEvery, setEvery] = useState(false)
  // A record has the name of the document that decided, and its digest.
  const name = call.policy.split(' ')[0]
  const document = value?.documents.find((one) => one.name === name)
  if (document === undefined || document.fixed !== '')
    return (
      <Dialog title="A rule from this call" onClose={onClose}>
        {error !== undefined && <ErrorNotice error={error} />}
        {value === undefined && error === undefined && <Loading />}
        {value !== undefined && document === undefined && (
          <Notice kind="warn">The policy {name} that decided it is not here any more.</Notice>
        )}
        {document !== undefined && <Notice>{document.fixed}: change it there.</Notice>}
      </Dialog>
    )
  if (action === 'require_approval' && from === undefined && !isEvery)
    return (
      <AskFrom call={call} onClose={onClose} onChosen={setFrom} onEvery={() => setEvery(true)} />
    )
  return <Drafted call={call} action={action} document={document} from={from} onClose={onClose} />
}

/** Numbers that the tool declares, and those that the call was judged by. */
function AskFrom({
  call,
  onClose,
  onChosen,
  onEvery,
}: {
  call: CallExplanation
  onClose: () => void
  onChosen: (from: AskedFrom) => void
  /** Whatever its arguments are. */
  onEvery: () => void
}): JSX.Element {
  const { server, name } = call
  const { value: tool } = useResource<ToolPage>(`/tool${formatQuery({ server, name })}`)
  const judged = useMemo(() => new Map(listNumbers(call)), [call])
  const names = [...new Set([...judged.keys(), ...listNumericArguments(tool?.inputSchema ?? '')])]
  const [argument, setArgument] = useState('')
  const [amount, setAmount] = useState<string>()
  const chosen = argument === '' ? (names[0] ?? '') : argument
  const limit = amount ?? judged.get(chosen) ?? ''
  const isValid = chosen !== '' && VALUE.test(limit)
  const choose = () => isValid && onChosen({ argument: chosen, value: limit })
  return (
    <Dialog title="Ask a person" onClose={onClose}>
      {tool === undefined && names.length === 0 ? (
        <Loading />
      ) : names.length === 0 ? (
        <>
          <p>
            <UntrustedText text={`${server}/${name}`} className="mono" /> has no number to ask from.
            A person can be asked for each of its calls.
          </p>
          <div className="row">
            <Button kind="primary" onPress={onEvery}>
              Ask for every call
            </Button>
          </div>
        </>
      ) : (
        <>
          <p>
            Calls of <UntrustedText text={`${server}/${name}`} className="mono" /> pass below the
            value, and a person is asked from it on. A call without the argument is held too.
          </p>
          <SelectField
            label="Argument"
            quiet={false}
            value={chosen}
            onChange={(next) => {
              setArgument(next)
              setAmount(undefined)
            }}
            choices={names.map((one) => ({ value: one, says: one }))}
          />
          <TextField
            label="Ask from"
            isFirst
            placeholder="50.00"
            value={limit}
            onChange={setAmount}
            onEnter={choose}
          />
          <div className="row">
            <Button kind="primary" isDisabled={!isValid} onPress={choose}>
              See what it changes
            </Button>
            <Button kind="quiet" onPress={onEvery}>
              Ask for every call
            </Button>
          </div>
        </>
      )}
    </Dialog>
  )
}

function Drafted({
  call,
  action,
  document,
  from,
  onClose,
}: {
  call: CallExplanation
  action: NewRuleAction
  document: PolicyDocumentView
  from: AskedFrom | undefined
  onClose: () => void
}): JSX.Element {
  const tool = `${call.server}/${call.name}`
  const [text, setText] = useState<string>()
  const [error, setError] = useState<ApiError>()
  const { name, text: before } = document
  useEffect(() => {
    const move = { tool, to: action, from }
    post<PolicyDraft>('/policy/draft', { name, text: before, move }).then(
      (draft) => setText(draft.text),
      (fault) => setError(toApiError(fault)),
    )
  }, [name, before, tool, action, from])
  const test = useMemo((): PolicyTest => {
    const numbers = Object.fromEntries(listNumbers(call))
    const args = from === undefined ? numbers : { ...numbers, [from.argument]: from.value }
    const says = from === undefined ? 'always' : `from ${from.argument} ${from.value} on`
    return {
      name: `record ${nameRecord(call)}: ${action} ${says}`,
      call: tool,
      args,
      expect: action,
    }
  }, [call, action, from, tool])
  if (text === undefined || text === before)
    return (
      <Dialog title="A rule from this call" onClose={onClose}>
        {error !== undefined && <ErrorNotice error={error} />}
        {error === undefined && text === undefined && <Loading />}
        {text !== undefined && <Notice kind="good">The policy says so already.</Notice>}
        {error !== undefined && (
          <Link to={`${pathTo('policy')}${formatQuery({ document: name, tool })}`}>
            Open the policy
          </Link>
        )}
      </Dialog>
    )
  return (
    <SaveDialog document={document} text={text} test={test} onClose={onClose} onSaved={onClose} />
  )
}

/** Arguments on the first level, by name, that were numbers when the call was judged. */
function listNumbers({ judged }: CallExplanation): [name: string, value: string][] {
  return judged.flatMap(({ path, value }): [string, string][] => {
    const name = path.replace(/^args\./, '')
    return path !== name && NAME.test(name) && VALUE.test(value) ? [[name, value]] : []
  })
}

function listNumericArguments(schema: string): string[] {
  try {
    const { properties = {} } = JSON.parse(schema) as {
      properties?: Record<string, { type?: unknown }>
    }
    return Object.entries(properties)
      .filter(([name, { type }]) => NAME.test(name) && (type === 'number' || type === 'integer'))
      .map(([name]) => name)
  } catch {
    return []
  }
}
