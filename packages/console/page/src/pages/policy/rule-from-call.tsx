// From a recorded call to a rule for its tool: always allow, ask from a value of an argument on, or
// never. Ends in the save dialog, with what the rule would have done to recorded calls.

import { type JSX, useEffect, useMemo, useState } from 'react'
import type {
  PolicyDocumentView,
  PolicyDraft,
  PolicyView,
  ToolPage,
} from '../../../../src/contract/contract.ts'
import { type ApiError, formatQuery, post, toApiError } from '../../api.ts'
import { useResource } from '../../resource.ts'
import { pathTo } from '../../route.ts'
import { Form } from '../../ui/ask.tsx'
import { Button, Link } from '../../ui/button.tsx'
import { listDeclared } from '../../ui/declared-arguments.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { toChoices } from '../../ui/fields.tsx'
import { ErrorNotice, Loading, Notice } from '../../ui/page.tsx'
import { GateText, UntrustedText } from '../../ui/text.tsx'
import {
  type Alternative,
  listAlternatives,
  NAME,
  type RuleSubject,
  VALUE,
} from './rule-subject.ts'
import { type PolicyTest, SaveDialog } from './save.tsx'

export type NewRuleAction = 'allow' | 'require_approval' | 'deny'

/** An argument, and a number from which on a person is asked. */
interface ArgumentValue {
  readonly argument: string
  readonly value: string
}

interface RuleFromCallProps {
  readonly subject: RuleSubject
  readonly action: NewRuleAction
  readonly onClose: () => void
}

export function RuleFromCall({ subject, action, onClose }: RuleFromCallProps): JSX.Element {
  const { value, error } = useResource<PolicyView>('/policy', undefined, true)
  const [from, setFrom] = useState<ArgumentValue>()
  const [isEvery, setEvery] = useState(false)
  const own = value?.documents.filter(({ house }) => !house) ?? []
  const name = subject.policy ?? (own.length === 1 ? own[0]?.name : undefined)
  const document = value?.documents.find((one) => one.name === name)
  if (document === undefined || document.fixed !== '')
    return (
      <Dialog title="A rule from this call" onClose={onClose}>
        {error !== undefined && <ErrorNotice error={error} />}
        {value === undefined && error === undefined && <Loading />}
        {value !== undefined && document === undefined && (
          <Notice kind="warn">
            {name === undefined
              ? 'There are several policies: choose one, and change its rule there. '
              : `The policy ${name} that decided it is not here any more. `}
            <Link to="/policy">Open the policy</Link>
          </Notice>
        )}
        {document !== undefined && <Notice>{document.fixed}: change it there.</Notice>}
      </Dialog>
    )
  if (action === 'require_approval' && from === undefined && !isEvery)
    return (
      <AskFrom
        subject={subject}
        onClose={onClose}
        onChosen={setFrom}
        onEvery={() => setEvery(true)}
      />
    )
  return (
    <Drafted subject={subject} action={action} document={document} from={from} onClose={onClose} />
  )
}

interface AskFromProps {
  readonly subject: RuleSubject
  readonly onClose: () => void
  readonly onChosen: (from: ArgumentValue) => void
  /** Whatever its arguments are. */
  readonly onEvery: () => void
}

/** Numbers that the tool declares, and those that the call was judged by. */
function AskFrom({ subject, onClose, onChosen, onEvery }: AskFromProps): JSX.Element {
  const { server, name, numbers } = subject
  const { value: tool } = useResource<ToolPage>(`/tool${formatQuery({ server, name })}`)
  const judged = new Map(numbers)
  const names = [...new Set([...judged.keys(), ...listNumericArguments(tool?.inputSchema ?? '')])]
  if (tool === undefined && names.length === 0)
    return (
      <Dialog title="Ask a person" onClose={onClose}>
        <Loading />
      </Dialog>
    )
  const [first] = names
  const id = <UntrustedText text={`${server}/${name}`} className="mono" />
  const every = (
    <Button kind={first === undefined ? 'primary' : 'quiet'} onPress={onEvery}>
      Ask for every call
    </Button>
  )
  return (
    <Dialog title="Ask a person" onClose={onClose}>
      {first === undefined ? (
        <>
          <p>{id} has no number to ask from. A person can be asked for each of its calls.</p>
          <div className="row">{every}</div>
        </>
      ) : (
        <Form
          fields={({ argument = first }) => [
            { name: 'argument', label: 'Argument', choices: toChoices(names), value: first },
            {
              name: 'value',
              label: 'Ask from',
              placeholder: '50.00',
              value: judged.get(argument) ?? '',
            },
          ]}
          findFault={({ value = '' }) => (VALUE.test(value) ? undefined : '')}
          confirm="See what it changes"
          onSubmit={({ argument = first, value = '' }) => onChosen({ argument, value })}
        >
          <p>
            Calls of {id} pass below the value, and a person is asked from it on. A call without the
            argument is held too.
          </p>
          <div className="row">{every}</div>
        </Form>
      )}
    </Dialog>
  )
}

interface DraftedProps {
  readonly subject: RuleSubject
  readonly action: NewRuleAction
  readonly document: PolicyDocumentView
  readonly from: ArgumentValue | undefined
  readonly onClose: () => void
}

function Drafted({ subject, action, document, from, onClose }: DraftedProps): JSX.Element {
  const tool = `${subject.server}/${subject.name}`
  const [text, setText] = useState<string>()
  const [error, setError] = useState<ApiError>()
  const [also, setAlso] = useState<Alternative>()
  const { name, text: before } = document
  useEffect(() => {
    setError(undefined)
    const { says: _, ...alternative } = also ?? { says: '' }
    const move = { tool, to: action, from, also: also && alternative }
    post<PolicyDraft>('/policy/draft', { name, text: before, move }).then(
      (draft) => setText(draft.text),
      (fault) => setError(toApiError(fault)),
    )
  }, [name, before, tool, action, from, also])
  const test = useMemo((): PolicyTest | undefined => {
    // What a case can say is a number.
    if (also?.value.startsWith('"')) return undefined
    const numbers = Object.fromEntries(subject.numbers)
    const args = from === undefined ? numbers : { ...numbers, [from.argument]: from.value }
    const says = from === undefined ? 'always' : `from ${from.argument} ${from.value} on`
    return {
      name: `${subject.called}: ${action} ${says}`,
      call: tool,
      args,
      expect: action,
    }
  }, [subject, action, from, also, tool])
  if (error?.code === 'API_REFUSED' && action === 'allow' && also === undefined)
    return <AllowAlso subject={subject} onClose={onClose} onChosen={setAlso} why={error.message} />
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
    <SaveDialog
      isFromCall
      document={document}
      text={text}
      test={test}
      onClose={onClose}
      onSaved={onClose}
    />
  )
}

interface AllowAlsoProps {
  readonly subject: RuleSubject
  readonly onClose: () => void
  readonly onChosen: (also: Alternative) => void
  /** Why the rule cannot simply allow. */
  readonly why: string
}

/** The rule has a condition, which stays: what this call has is allowed besides, or a bound moves. */
function AllowAlso({ subject, onClose, onChosen, why }: AllowAlsoProps): JSX.Element {
  const { server, name } = subject
  const alternatives = listAlternatives(subject)
  const choices = alternatives.map(({ says }, at) => ({ value: String(at), says }))
  if (choices.length === 0)
    return (
      <Dialog title="A rule from this call" onClose={onClose}>
        <Notice kind="warn">
          <GateText text={why} />. <Link to="/policy">Change its condition</Link>
        </Notice>
      </Dialog>
    )
  return (
    <Dialog title="Always allow" onClose={onClose}>
      <Form
        fields={[
          { name: 'which', label: 'Allow also calls whose', type: 'chips', choices, value: '0' },
        ]}
        confirm="See what it changes"
        onSubmit={({ which }) => {
          const chosen = alternatives[Number(which)]
          if (chosen !== undefined) onChosen(chosen)
        }}
      >
        <p>
          The rule of <UntrustedText text={`${server}/${name}`} className="mono" /> has a condition.
          It stays as it is; what you choose passes besides.
        </p>
      </Form>
    </Dialog>
  )
}

function listNumericArguments(schema: string): string[] {
  return listDeclared(schema)
    .filter(({ name, type }) => NAME.test(name) && (type === 'number' || type === 'integer'))
    .map(({ name }) => name)
}
