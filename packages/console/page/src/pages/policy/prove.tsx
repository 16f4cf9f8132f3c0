// Whether the properties beside a document hold under a text that is being edited.

import { type JSX, useState } from 'react'
import type { PolicyDraft, PolicyProofs } from '../../../../src/contract/contract.ts'
import { post } from '../../api.ts'
import { Button } from '../../ui/button.tsx'
import { Icon } from '../../ui/icons.tsx'
import { OutcomeBadge } from '../../ui/marks.tsx'
import { Notice } from '../../ui/page.tsx'
import { UntrustedText } from '../../ui/text.tsx'
import { complain } from '../../ui/toasts.tsx'
import { plural } from '../../ui/words.ts'

/** The properties beside the document, over every known tool and every branch of the text. */
export function Prove({ name, text }: { name: string; text: string }): JSX.Element {
  const [proofs, setProofs] = useState<PolicyProofs | 'busy'>()
  const prove = () => {
    setProofs('busy')
    post<PolicyDraft>('/policy/draft', { name, text, prove: true }).then(
      (draft) => setProofs(draft.proofs),
      (error) => {
        setProofs(undefined)
        complain(error)
      },
    )
  }
  if (proofs === undefined || proofs === 'busy')
    return (
      <div>
        <Button onPress={prove} isDisabled={proofs === 'busy'}>
          <Icon name="policy" /> {proofs === 'busy' ? 'Proving…' : 'Prove its properties'}
        </Button>
      </div>
    )
  const { file, why, properties } = proofs
  if (why !== '')
    return (
      <Notice kind="warn">
        <p>
          Nothing is proved, {why}: <UntrustedText text={file} className="mono" />. Write there what
          has to hold for every call, whatever its arguments are, for example:
        </p>
        <pre className="code">{EXAMPLE}</pre>
      </Notice>
    )
  return (
    <ul className="stack" aria-label="Properties">
      {properties.map((one) => (
        <li key={one.name}>
          <OutcomeBadge
            word={PROOF_WORDS[one.result]}
            says={one.result === 'nothing' ? 'about no known tool' : one.result}
          />{' '}
          <UntrustedText text={one.name} className="strong" />{' '}
          <span className="muted small">{plural(one.tools, 'tool')}</span>
          {one.against.map(({ tool, says }) => (
            <div key={tool} className="small">
              <UntrustedText text={`${tool}: ${says}`} className="mono" />
            </div>
          ))}
        </li>
      ))}
    </ul>
  )
}

const EXAMPLE = `properties:
  - name: nothing destructive runs without a person
    never: { category: Destructive, action: allow }
  - name: large refunds are asked for
    never: { tool: shop/refund, when: "args.amount > 5000.0", action: allow }`

const PROOF_WORDS = {
  proved: 'allow',
  refuted: 'deny',
  'not proved': 'ask',
  nothing: 'hide',
} as const
