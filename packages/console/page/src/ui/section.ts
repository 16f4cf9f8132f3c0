// A section that the address names, as in `/settings?section=data`: scrolled to and focused once it is
// there. The name is then removed from the address, so that nothing scrolls a second time.

import { type RefObject, useEffect, useRef } from 'react'
import { setQuery, useRoute } from '../route.ts'

/** How long the page is kept at the section while other parts of it still load. */
const SETTLING_MS = 2_000
const BY_HAND = ['wheel', 'pointerdown', 'keydown'] as const

/** `isThere`: the section is shown. */
export function useSection<Element extends HTMLElement>(
  name: string,
  isThere: boolean,
): RefObject<Element | null> {
  const ref = useRef<Element>(null)
  const isWanted = useRoute().query.get('section') === name
  useEffect(() => {
    const section = ref.current
    if (!isWanted || !isThere || section === null) return
    setQuery({ section: '' })
    section.tabIndex = -1
    section.dataset.arrived = ''
    section.focus({ preventScroll: true })
    // A click into it later is none on a link to it.
    const leave = () => {
      section.removeAttribute('tabindex')
      delete section.dataset.arrived
    }
    section.addEventListener('blur', leave, { once: true })
    stayAt(section)
  }, [isWanted, isThere])
  return ref
}

function stayAt(section: HTMLElement): void {
  const observer = new ResizeObserver(() => section.scrollIntoView({ block: 'start' }))
  for (const part of section.parentElement?.children ?? []) observer.observe(part)
  section.scrollIntoView({ block: 'start' })
  const end = () => {
    observer.disconnect()
    for (const event of BY_HAND) removeEventListener(event, end)
  }
  for (const event of BY_HAND) addEventListener(event, end, { once: true })
  setTimeout(end, SETTLING_MS)
}
