// Definitions that changed after they were accepted, or were never accepted: what changed, the
// whole diff, and the decision on it. A refused one stays blocked, with who refused it and why,
// until it is accepted after all.

import { type JSX, useState } from 'react'
import type { PendingDefinitionView } from '../../../../src/contract/contract.ts'
import { post } from '../../api.ts'
import { mayAct, sendWithProof, useMe } from '../../session.ts'
import { AskButton, type FormValues } from '../../ui/ask.tsx'
import { Button } from '../../ui/button.tsx'
import { Diff } from '../../ui/diff.tsx'
import { Icon } from '../../ui/icons.tsx'
import { Category, OutcomeBadge } from '../../ui/marks.tsx'
import { Notice } from '../../ui/page.tsx'
import { useSection } from '../../ui/section.ts'
import { ToolName, UntrustedText } from '../../ui/text.tsx'
import { complain, showToast } from '../../ui/toasts.tsx'
import { date, formatPointer, plural } from '../../ui/words.ts'

interface PendingProps {
  readonly held: readonly PendingDefinitionView[]
  /** How many others wait. */
  readonly more: number
  readonly reload: () => void
}

export function PendingDefinitions({ held, more, reload }: PendingProps): JSX.Element {
  const waiting = held.filter(({ refused }) => refused === null)
  const refused = held.filter((pin) => pin.refused !== null)
  const section = useSection<HTMLElement>('definitions', waiting.length > 0)
  const toCard = (pin: PendingDefinitionView) => (
    <PendingDefinitionCard key={pin.digest} pin={pin} reload={reload} />
  )
  return (
    <>
      {waiting.length > 0 && (
        <section ref={section} className="stack" aria-label="Definitions to review">
          <h2>{plural(waiting.length, 'definition')} to review</h2>
          {waiting.map(toCard)}
        </section>
      )}
      {refused.length > 0 && (
        <section className="stack" aria-label="Refused definitions">
          <h2>{plural(refused.length, 'refused definition')}</h2>
          {refused.map(toCard)}
        </section>
      )}
      {more > 0 && (
        <Notice kind="warn">
          {plural(more, 'further definition')} to review or refused: shown when these are decided,
          and by <span className="mono">sluice pin --held</span>.
        </Notice>
      )}
    </>
  )
}

/** Definitions whose difference was shown in this tab: no other can be accepted. */
const read = new Set<string>()

interface PendingDefinitionCardProps {
  readonly pin: PendingDefinitionView
  readonly reload: () => void
}

function PendingDefinitionCard({ pin, reload }: PendingDefinitionCardProps): JSX.Element {
  const me = useMe()
  const [open, setOpen] = useState(false)
  const { server, name, digest, dangers, refused } = pin
  const isRead = read.has(digest)
  const isDangerous = dangers.length > 0
  const show = () => {
    read.add(digest)
    setOpen(!open)
  }
  const accept = () =>
    sendWithProof('POST', '/pins/accept', { server, name, digest }).then(() => {
      showToast(`accepted the definition of ${server}/${name}`)
      reload()
    }, complain)
  const refuse = async (values: FormValues) => {
    await post('/pins/refuse', { server, name, digest, ...values })
    showToast(`refused: ${server}/${name} stays blocked`)
    reload()
  }
  return (
    <article
      className="card card-body stack held"
      data-refused={refused !== null}
      data-danger={isDangerous}
      aria-label={`${server}/${name}`}
    >
      <div className="row spread">
        <div className="row">
          {refused !== null ? (
            <OutcomeBadge word="deny" says="Refused" />
          ) : isDangerous ? (
            <OutcomeBadge word="deny" says="Looks like an attack" />
          ) : (
            <OutcomeBadge word="ask" says="Held" />
          )}
          <ToolName server={server} name={name} />
          <Category name={pin.category} unknown={pin.unknown} />
        </div>
        <div className="row">
          <Button kind="quiet" onPress={show} aria-expanded={open}>
            <Icon name="down" /> {open ? 'Hide the difference' : 'Show the difference'}
          </Button>
          {mayAct(me, 'policy-manager') && (
            <>
              {refused === null && (
                <AskButton
                  says="Refuse…"
                  button="refuse"
                  title={`Refuse the definition of ${server}/${name}`}
                  fields={[{ name: 'why', label: 'Why not', placeholder: 'Shown to callers' }]}
                  confirm="Refuse it"
                  kind="refuse"
                  onSubmit={refuse}
                />
              )}
              <Button
                kind={refused === null && !isDangerous ? 'approve' : 'plain'}
                onPress={accept}
                isDisabled={!isRead}
              >
                <Icon name="key" />{' '}
                {refused !== null ? 'Accept after all' : isDangerous ? 'Accept anyway' : 'Accept'}
              </Button>
            </>
          )}
        </div>
      </div>
      {refused !== null && (
        <Notice kind="bad">
          <span className="strong">
            Refused by <UntrustedText text={refused.by} />, {date(refused.atMs)}.
          </span>{' '}
          {refused.why !== '' && <UntrustedText text={`“${refused.why}” `} />}
          Nobody can call it until it is accepted, or its server goes back to the one before.
        </Notice>
      )}
      {isDangerous && <Dangers found={dangers} />}
      {!isDangerous && (
        <p>
          <UntrustedText text={pin.because} />
        </p>
      )}
      {!isRead && mayAct(me, 'policy-manager') && (
        <p className="muted">Show the difference to be able to accept it.</p>
      )}
      {pin.changes.length > 0 && (
        <ul className="changes">
          {pin.changes.map((change) => (
            <li key={change}>
              <UntrustedText text={toWords(change)} />
            </li>
          ))}
        </ul>
      )}
      {open && <Diff before={pin.before} after={pin.after} />}
    </article>
  )
}

function Dangers({ found }: { found: PendingDefinitionView['dangers'] }): JSX.Element {
  return (
    <Notice kind="bad">
      <span className="strong">The new definition tries to steer the model.</span>
      <ul className="changes">
        {found.filter(isFirstOfKind).map(({ kind, at, text }) => (
          <li key={`${at} ${kind}`}>
            {kind} in <span className="mono">{formatPointer(at)}</span>:{' '}
            <UntrustedText text={`“${text}”`} className="mono" />
          </li>
        ))}
      </ul>
    </Notice>
  )
}

/** Of several that were found in one place, one is enough. */
function isFirstOfKind<Found extends { readonly kind: string; readonly at: string }>(
  { kind, at }: Found,
  index: number,
  all: readonly Found[],
): boolean {
  return all.findIndex((one) => one.kind === kind && one.at === at) === index
}

const SIGNS: Readonly<Record<string, string>> = { '+': 'new: ', '-': 'gone: ', '~': '' }

/** `~ /inputSchema/properties/a: x -> y` as `a: x → y`. */
function toWords(change: string): string {
  const [, sign = '', path = '', rest] = /^([+~-]) (\/[^:]*): ([\s\S]*)$/.exec(change) ?? []
  if (rest === undefined) return change
  const name = path.split('/').filter((part) => !/^(inputSchema|properties|)$/.test(part))
  return `${SIGNS[sign]}${name.join(' › ')}: ${rest.replace(' -> ', ' → ')}`
}
