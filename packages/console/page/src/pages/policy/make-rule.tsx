// Buttons that make a rule for the tool of a call, for people who may change the policy.

import { type JSX, lazy, Suspense, useRef, useState } from 'react'
import { formatQuery } from '../../api.ts'
import { mayAct, useMe } from '../../session.ts'
import { Button, Link } from '../../ui/button.tsx'
import type { RuleChoices } from '../ledger/rule-choices.ts'
import type { NewRuleAction } from './rule-from-call.tsx'
import type { RuleSubject } from './rule-subject.ts'

const RuleFromCall = lazy(async () => ({
  default: (await import('./rule-from-call.tsx')).RuleFromCall,
}))

interface MakeRuleProps {
  readonly subject: RuleSubject
  readonly choices: RuleChoices
  /** What else a person should know first. */
  readonly children?: string
}

/** `subject` keeps its identity until the call changes. */
export function MakeRule({ subject, choices, children }: MakeRuleProps): JSX.Element | null {
  const me = useMe()
  const [action, setAction] = useState<NewRuleAction>()
  const group = useRef<HTMLFieldSetElement>(null)
  // Several dialogs follow each other: the button that opened the last one is gone with the first.
  const close = () => {
    setAction(undefined)
    requestAnimationFrame(() => group.current?.querySelector('button')?.focus())
  }
  if (choices === 'none' || !mayAct(me, 'policy-manager')) return null
  const tool = `${subject.server}/${subject.name}`
  return (
    <fieldset ref={group} className="row plain-group" aria-label="Make a rule for this tool">
      <span className="muted small">From now on:</span>
      {choices === 'all' && <Button onPress={() => setAction('allow')}>Always allow</Button>}
      <Button onPress={() => setAction('require_approval')}>Ask…</Button>
      <Button onPress={() => setAction('deny')}>Never</Button>
      {choices === 'guess' && (
        <span className="muted small">
          To allow it, first say what it does, under <code>classify</code> in the policy:{' '}
          <Link to={`/servers${formatQuery({ tool })}`}>what is known of it</Link>
        </span>
      )}
      {children && <span className="muted small">{children}</span>}
      {action !== undefined && (
        <Suspense>
          <RuleFromCall subject={subject} action={action} onClose={close} />
        </Suspense>
      )}
    </fieldset>
  )
}
