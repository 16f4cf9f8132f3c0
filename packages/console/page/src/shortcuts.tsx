// Listens for the shortcuts of every page and opens what they are for; the parts are loaded then.

import { type JSX, lazy, Suspense, useEffect, useState } from 'react'
import { FreezeDialog } from './freeze.tsx'
import type { PageLink } from './palette.tsx'
import { isTyping } from './ui/keys.ts'

const Palette = lazy(async () => ({ default: (await import('./palette.tsx')).Palette }))
const Shortcuts = lazy(async () => ({ default: (await import('./palette.tsx')).Shortcuts }))

type Shortcut = 'palette' | 'shortcuts' | 'freeze'

/** For buttons that do the same. */
export function openShortcut(which: Shortcut): void {
  window.dispatchEvent(new CustomEvent('sluice-open', { detail: which }))
}

export function ShortcutDialogs({ pages }: { pages: readonly PageLink[] }): JSX.Element {
  const [open, setOpen] = useState<Shortcut>()
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      const isPalette = event.key.toLowerCase() === 'k' && (event.ctrlKey || event.metaKey)
      const isHelp = event.key === '?' && !isTyping(event.target)
      if (!isPalette && !isHelp) return
      event.preventDefault()
      setOpen(isPalette ? 'palette' : 'shortcuts')
    }
    const ask = (event: Event) => setOpen((event as CustomEvent<Shortcut>).detail)
    window.addEventListener('keydown', press)
    window.addEventListener('sluice-open', ask)
    return () => {
      window.removeEventListener('keydown', press)
      window.removeEventListener('sluice-open', ask)
    }
  }, [])
  const close = () => setOpen(undefined)
  return (
    <Suspense>
      {open === 'palette' && <Palette pages={pages} onClose={close} />}
      {open === 'shortcuts' && <Shortcuts onClose={close} />}
      {open === 'freeze' && <FreezeDialog onClose={close} />}
    </Suspense>
  )
}
