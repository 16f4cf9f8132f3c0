// Rules and guardrails in shadow: an edit that adds some is tried beside the policy in force, and the page of the policy
// says what they would have decided.

import { type JSX, useState } from 'react'
import type {
  CallHistogram,
  PolicyDocumentView,
  PolicyDraft,
} from '../../../../src/contract/contract.ts'
import { formatQuery, post } from '../../api.ts'
import { useResource } from '../../resource.ts'
import { Button, Link } from '../../ui/button.tsx'
import { Icon } from '../../ui/icons.tsx'
import { REFRESH_MS } from '../../ui/periods.ts'
import { UntrustedText } from '../../ui/text.tsx'
import { complain } from '../../ui/toasts.tsx'
import { formatPointer, plural } from '../../ui/words.ts'
import { findShadowEnd, isShadowOver, SHADOW_DAYS, writeShadowEnd } from './shadow-end.ts'

interface ShadowFirstProps {
  readonly document: PolicyDocumentView
  /** As it was edited. */
  readonly text: string
  /** The text to save in its place; undefined: as it was edited. */
  readonly onText: (text: string | undefined) => void
}

export function ShadowFirst({ document, text, onText }: ShadowFirstProps): JSX.Element {
  const [isOn, setOn] = useState(false)
  const turn = async () => {
    if (isOn) onText(undefined)
    else {
      const { name } = document
      const draft = await post<PolicyDraft>('/policy/draft', { name, text, shadow: true })
      onText(writeShadowEnd(draft.text, Date.now()))
    }
    setOn(!isOn)
  }
  return (
    <>
      <Button aria-pressed={isOn} onPress={() => turn().catch(complain)}>
        <Icon name="history" /> {isOn ? 'In shadow first' : `Shadow for ${SHADOW_DAYS} days`}
      </Button>
      {isOn && (
        <p className="muted small" role="status">
          Calls are decided as now. What it adds is recorded beside them; after {SHADOW_DAYS} days
          the overview asks for a decision.
        </p>
      )}
    </>
  )
}

interface InShadowProps {
  readonly rules: PolicyDraft['shadow']
  /** Of the document. */
  readonly text: string
}

/** What is in shadow and until when, each rule with the calls on record that it would have decided. */
export function InShadow({ rules, text }: InShadowProps): JSX.Element | null {
  if (rules.length === 0) return null
  const end = findShadowEnd(text)
  const isOver = isShadowOver(text, Date.now())
  return (
    <div className={`banner ${isOver ? 'ask' : ''}`}>
      <Icon name="history" /> {plural(rules.length, 'rule is', 'rules are')} in shadow
      {end !== undefined && ` until ${end}`}, and would have decided:
      {rules.map((rule) => (
        <Found key={rule.rule} {...rule} />
      ))}
      {isOver && 'Put them in force (take `mode: shadow` out), or remove them.'}
    </div>
  )
}

/** The calls on record that a rule would have decided. */
function Found({ rule, name }: PolicyDraft['shadow'][number]): JSX.Element {
  const query = formatQuery({ text: `by ${rule}` })
  const { value } = useResource<CallHistogram>(`/ledger/histogram${query}`, REFRESH_MS)
  const counts = value?.intervals.flatMap((one) => Object.values(one.counts)) ?? []
  return (
    <Link to={`/ledger${query}`}>
      {plural(
        counts.reduce((sum, n) => sum + n, 0),
        'call',
      )}{' '}
      by <UntrustedText text={name || formatPointer(rule)} />
    </Link>
  )
}
