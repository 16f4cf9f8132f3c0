// Definitions that changed after they were accepted, or were never trusted: what changed, the whole
// difference, and a person's word on it. What is refused stays held.

import { type JSX, useState } from 'react'
import type { HeldPin } from '../../../../src/admin/contract.ts'
import { post } from '../../api.ts'
import { mayAct, proven, useMe } from '../../session.ts'
import { Button } from '../../ui/button.tsx'
import { Diff } from '../../ui/diff.tsx'
import { Icon } from '../../ui/icons.tsx'
import { Category } from '../../ui/marks.tsx'
import { Said } from '../../ui/said.tsx'
import { complain, say } from '../../ui/toasts.tsx'
import { plural } from '../../ui/words.ts'

export function Pending({
  held,
  reload,
}: {
  held: readonly HeldPin[]
  reload: () => void
}): JSX.Element {
  return (
    <section className="stack" aria-label="Definitions that wait">
      <h2>{plural(held.length, 'definition waits', 'definitions wait')} for you</h2>
      {held.map((pin) => (
        <Held key={pin.digest} pin={pin} reload={reload} />
      ))}
    </section>
  )
}

function Held({ pin, reload }: { pin: HeldPin; reload: () => void }): JSX.Element {
  const me = useMe()
  const [open, setOpen] = useState(false)
  const { server, name, digest } = pin
  const accept = () =>
    proven('POST', '/pins/accept', { server, name, digest }).then(() => {
      say(`accepted the definition of ${server}/${name}`)
      reload()
    }, complain)
  const refuse = () =>
    post('/pins/refuse', { server, name, digest }).then(() => {
      say(`refused: ${server}/${name} stays held`)
      reload()
    }, complain)
  return (
    <article className="card held">
      <div className="row spread">
        <div className="row">
          <span className="mark ask">
            <Icon name="ask" size={12} /> Held
          </span>
          <span className="strong">
            <span className="muted">{server}/</span>
            <Said text={name} />
          </span>
          <Category name={pin.category} />
          {pin.refusedBy !== null && (
            <span className="tag critical">refused by {pin.refusedBy}</span>
          )}
        </div>
        <div className="row">
          <Button kind="quiet" onPress={() => setOpen(!open)} aria-expanded={open}>
            <Icon name="down" /> {open ? 'Hide the difference' : 'Show the difference'}
          </Button>
          {mayAct(me, 'policy-manager') && (
            <>
              <Button kind="refuse" onPress={refuse} isDisabled={pin.refusedBy !== null}>
                Refuse
              </Button>
              <Button kind="approve" onPress={accept}>
                <Icon name="key" /> Accept
              </Button>
            </>
          )}
        </div>
      </div>
      <p>
        <Said text={pin.because} />
      </p>
      {pin.changes.length > 0 && (
        <ul className="changes">
          {pin.changes.map((change) => (
            <li key={change}>
              <Said text={change} />
            </li>
          ))}
        </ul>
      )}
      {open && <Diff before={pin.before} after={pin.after} />}
    </article>
  )
}
