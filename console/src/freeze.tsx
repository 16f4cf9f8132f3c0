// Freeze and thaw from any page: a button in the navigation and on what can be frozen by itself, and a
// banner on every page while something is frozen. A freeze needs no passkey: it only stops.

import { type JSX, useState } from 'react'
import { get, post } from './api.ts'
import { mayAct, sendWithProof, useMe } from './session.ts'
import { SharedValue, useShared } from './shared-value.ts'
import { Button } from './ui/button.tsx'
import { Dialog } from './ui/dialog.tsx'
import { TextField } from './ui/fields.tsx'
import { Icon } from './ui/icons.tsx'
import { OutcomeBadge } from './ui/marks.tsx'
import { UntrustedText } from './ui/text.tsx'
import { complain, showToast } from './ui/toasts.tsx'
import { date, plural } from './ui/words.ts'

const REFRESH_MS = 3_000

export interface FreezeTarget {
  readonly scope: 'all' | 'server' | 'principal' | 'agent'
  readonly id: string
}

interface Freeze extends FreezeTarget {
  readonly at: string
  readonly why: string
}

const frozen = new SharedValue<readonly Freeze[]>([])

async function load(): Promise<void> {
  const { frozen: now } = await get<{ frozen: Freeze[] }>('/freeze')
  if (JSON.stringify(now) !== JSON.stringify(frozen.get())) frozen.set(now)
}

/** Started with the console, ended with the sign-in. */
export function watchFreezes(): () => void {
  const refresh = () => void load().catch(() => {})
  refresh()
  const timer = setInterval(refresh, REFRESH_MS)
  return () => clearInterval(timer)
}

function useFreezes(): readonly Freeze[] {
  return useShared(frozen)
}

export function FreezeBanner(): JSX.Element {
  const list = useFreezes()
  const me = useMe()
  return (
    <div role="status">
      {list.map((each) => (
        <div key={`${each.scope}/${each.id}`} className="banner bad frozen-banner">
          <Icon name="freeze" />
          <span>
            <b>{describeTarget(each)} is frozen</b> since {date(Date.parse(each.at))}
            {each.why !== '' && (
              <>
                : <UntrustedText text={each.why} />
              </>
            )}
          </span>
          <span className="spacer" />
          {mayAct(me, 'admin') && <Button onPress={() => thaw(each)}>Thaw</Button>}
        </div>
      ))}
    </div>
  )
}

function thaw(target: FreezeTarget): void {
  void sendWithProof('POST', '/thaw', toBody(target))
    .then(() => {
      showToast(`${describeTarget(target)} is thawed`)
      return load()
    })
    .catch(complain)
}

/** Asks for a reason first: callers are told it. */
export function FreezeButton({ target }: { target: FreezeTarget }): JSX.Element | null {
  const me = useMe()
  const list = useFreezes()
  const [asking, setAsking] = useState(false)
  const isFrozen = list.some(({ scope, id }) => scope === target.scope && id === target.id)
  if (isFrozen && target.scope !== 'all')
    // A banner has it too, which a drawer may lie over.
    return mayAct(me, 'admin') ? (
      <Button kind="quiet" onPress={() => thaw(target)}>
        <Icon name="freeze" /> Frozen: thaw
        <span className="visually-hidden">{describeTarget(target)}</span>
      </Button>
    ) : (
      <OutcomeBadge word="deny" says="Frozen" />
    )
  if (!mayAct(me, 'approver') || isFrozen) return null
  return (
    <>
      <Button kind="quiet" onPress={() => setAsking(true)}>
        <Icon name="freeze" />
        {target.scope === 'all' ? (
          <span>
            Freeze<span className="wide-only"> everything</span>…
          </span>
        ) : (
          <>
            Freeze…<span className="visually-hidden">{describeTarget(target)}</span>
          </>
        )}
      </Button>
      {asking && <FreezeDialog target={target} onClose={() => setAsking(false)} />}
    </>
  )
}

export function FreezeDialog({
  target,
  onClose,
}: {
  target: FreezeTarget
  onClose: () => void
}): JSX.Element {
  const [why, setWhy] = useState('')
  const freeze = () => {
    post<{ cancelled: number }>('/freeze', { ...toBody(target), why }).then(({ cancelled }) => {
      // The banner says that it is frozen, and a toast would lie over its button.
      if (cancelled > 0) showToast(`${plural(cancelled, 'open call')} cancelled`)
      onClose()
      void load().catch(complain)
    }, complain)
  }
  return (
    <Dialog title={`Freeze ${describeTarget(target).toLowerCase()}`} onClose={onClose}>
      <p>
        No call passes from now on, and open calls are cancelled. An administrator thaws it with a
        passkey.
      </p>
      <TextField
        label="Reason (callers see it)"
        isFirst
        value={why}
        onChange={setWhy}
        onEnter={freeze}
      />
      <div className="row">
        <Button kind="refuse" onPress={freeze}>
          <Icon name="freeze" /> Freeze now
        </Button>
        <Button kind="quiet" onPress={onClose}>
          Cancel
        </Button>
      </div>
    </Dialog>
  )
}

function toBody({ scope, id }: FreezeTarget): object {
  return scope === 'all' ? {} : { [scope]: id }
}

function describeTarget({ scope, id }: FreezeTarget): string {
  return scope === 'all' ? 'Everything' : `The ${scope} ${id}`
}
