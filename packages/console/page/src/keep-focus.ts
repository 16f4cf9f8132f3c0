// An element that is removed or disabled takes the focus with it: a link with its page, a button with what
// it decided.
// The focus then goes to the page, so that the next key starts there and not at the top of the document.

/** A dialog that closes gives the focus back by itself, a moment later. */
const GIVEN_BACK_MS = 100

/** Started with the console, ended with the sign-in. */
export function keepFocus(): () => void {
  let last: Element | null = null
  const remember = (event: FocusEvent) => {
    last = event.target instanceof Element ? event.target : null
  }
  const isLost = () =>
    last !== null &&
    (!last.isConnected || last.matches(':disabled')) &&
    document.activeElement === document.body
  const look = () => {
    if (!isLost()) return
    setTimeout(() => {
      if (isLost()) document.getElementById('main')?.focus({ preventScroll: true })
    }, GIVEN_BACK_MS)
  }
  const removed = new MutationObserver(look)
  removed.observe(document.body, { childList: true, subtree: true, attributeFilter: ['disabled'] })
  document.addEventListener('focusin', remember)
  return () => {
    removed.disconnect()
    document.removeEventListener('focusin', remember)
  }
}
