// Listens for the shortcuts of every page and opens what they are for; the parts are loaded then.

import { type JSX, lazy, Suspense, useEffect, useState } from 'react'
import type { PageLink } from './palette.tsx'

const Palette = lazy(async () => ({ default: (await import('./palette.tsx')).Palette }))
const Shortcuts = lazy(async () => ({ default: (await import('./palette.tsx')).Shortcuts }))

export function ShortcutDialogs({ pages }: { pages: readonly PageLink[] }): JSX.Element {
  const [open, setOpen] = useState<'palette' | 'shortcuts'>()
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      const isPalette = event.key.toLowerCase() === 'k' && (event.ctrlKey || event.metaKey)
      const isHelp = event.key === '?' && !isTyping(event.target)
      if (!isPalette && !isHelp) return
      event.preventDefault()
      setOpen(isPalette ? 'palette' : 'shortcuts')
    }
    window.addEventListener('keydown', press)
    return () => window.removeEventListener('keydown', press)
  }, [])
  const close = () => setOpen(undefined)
  return (
    <Suspense>
      {open === 'palette' && <Palette pages={pages} onClose={close} />}
      {open === 'shortcuts' && <Shortcuts onClose={close} />}
    </Suspense>
  )
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest('input, textarea, select, .cm-editor') !== null
}
