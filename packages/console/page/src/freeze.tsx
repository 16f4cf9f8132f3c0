// Freeze and thaw from any page: a button in the navigation and on what can be frozen by itself, and a
// banner on every page while something is frozen. A freeze needs no passkey: it only stops.

import type { JSX } from 'react'
import type { SettingsView } from '../../src/contract/contract.ts'
import { post } from './api.ts'
import { queries, useResource } from './resource.ts'
import { mayAct, sendWithProof, useMe } from './session.ts'
import { Ask, AskButton, type FormValues } from './ui/ask.tsx'
import { Button } from './ui/button.tsx'
import { Icon } from './ui/icons.tsx'
import { OutcomeBadge } from './ui/marks.tsx'
import { UntrustedText } from './ui/text.tsx'
import { complain, showToast } from './ui/toasts.tsx'
import { date, plural } from './ui/words.ts'

const REFRESH_MS = 3_000

type Freeze = SettingsView['frozen'][number]
export type FreezeTarget = Pick<Freeze, 'scope' | 'id'>

export const EVERYTHING: FreezeTarget = { scope: 'all', id: '' }

function useFreezes(): readonly Freeze[] {
  return useResource<SettingsView>('/settings', REFRESH_MS).value?.frozen ?? []
}

const reload = () => queries.invalidateQueries({ queryKey: ['/settings'] })

export function FreezeBanner(): JSX.Element {
  const list = useFreezes()
  const me = useMe()
  return (
    <div role="status">
      {list.map((each) => (
        <div key={`${each.scope}/${each.id}`} className="banner bad frozen-banner">
          <Icon name="freeze" />
          <span className="spacer">
            <b>{describeTarget(each)} is frozen</b> since {date(each.atMs)}
            {each.why !== '' && ': '}
            <UntrustedText text={each.why} />
          </span>
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
      return reload()
    })
    .catch(complain)
}

export function FreezeButton({ target }: { target: FreezeTarget }): JSX.Element | null {
  const me = useMe()
  const list = useFreezes()
  const isFrozen = list.some(({ scope, id }) => scope === target.scope && id === target.id)
  const isAll = target.scope === 'all'
  const what = <span className="visually-hidden">{describeTarget(target)}</span>
  if (isFrozen && !isAll)
    // A banner has it too, which a drawer may lie over.
    return mayAct(me, 'admin') ? (
      <Button kind="quiet" onPress={() => thaw(target)}>
        <Icon name="freeze" /> Frozen: thaw
        {what}
      </Button>
    ) : (
      <OutcomeBadge word="deny" says="Frozen" />
    )
  if (!mayAct(me, 'approver') || isFrozen) return null
  const says = (
    <>
      <span title={isAll ? 'Freeze everything' : undefined}>
        <Icon name="freeze" />
      </span>{' '}
      {isAll ? (
        <span className="nav-word">Freeze everything…</span>
      ) : (
        <>
          {target.scope === 'agent' ? 'Freeze agent…' : 'Freeze…'}
          {what}
        </>
      )}
    </>
  )
  return <AskButton {...toQuestion(target)} says={says} button="quiet" />
}

export function FreezeDialog({ onClose }: { onClose: () => void }): JSX.Element {
  return <Ask {...toQuestion(EVERYTHING)} onClose={onClose} />
}

/** Asks for a reason: callers are told it. */
function toQuestion(target: FreezeTarget) {
  return {
    title: `Freeze ${describeTarget(target).toLowerCase()}`,
    fields: [{ name: 'why', label: 'Reason (callers see it)' }],
    confirm: 'Freeze now',
    icon: 'freeze',
    kind: 'refuse',
    children:
      'No call passes from now on, and open calls are cancelled. An administrator thaws it with a passkey.',
    onSubmit: async (values: FormValues) => {
      const { cancelled } = await post<{ cancelled: number }>('/freeze', {
        ...toBody(target),
        ...values,
      })
      // The banner says that it is frozen, and a toast would lie over its button.
      if (cancelled > 0) showToast(`${plural(cancelled, 'open call')} cancelled`)
      await reload()
    },
  } as const
}

function toBody({ scope, id }: FreezeTarget): object {
  return scope === 'all' ? {} : { [scope]: id }
}

function describeTarget({ scope, id }: FreezeTarget): string {
  return scope === 'all' ? 'Everything' : `The ${scope} ${id}`
}
