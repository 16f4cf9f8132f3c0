// What is broken in how a page is laid out: a document that scrolls beside its page, an element that scrolls
// sideways, and heads that do not stand over their columns.

import type { Page } from 'playwright-core'

/** Runs in the page. */
const LOOK = `(() => {
  const { scrollHeight, scrollWidth } = document.documentElement
  const faults = []
  if (scrollHeight > innerHeight) faults.push('the document is ' + scrollHeight + ' px high in a window of ' + innerHeight)
  if (scrollWidth > innerWidth) faults.push('the document is ' + scrollWidth + ' px wide in a window of ' + innerWidth)
  // Lines of the editor are as long as they are written.
  for (const one of document.querySelectorAll('body *:not(.cm-scroller, .cm-scroller *)')) {
    const { overflowX } = getComputedStyle(one)
    const isWider = one.scrollWidth > one.clientWidth + 1
    if (isWider && (overflowX === 'auto' || overflowX === 'scroll') && one.checkVisibility())
      faults.push('<' + one.tagName.toLowerCase() + ' class="' + one.className + '"> is ' + one.scrollWidth + ' px wide in ' + one.clientWidth)
  }
  const columnsOf = (row) => [...(row?.children ?? [])]
    .filter((cell) => cell.checkVisibility())
    .map((cell) => Math.round(cell.getBoundingClientRect().left))
    .join()
  for (const list of document.querySelectorAll('.long-list')) {
    const heads = columnsOf(list.querySelector('thead > tr'))
    const cells = columnsOf(list.querySelector('tbody > tr'))
    if (heads !== '' && cells !== '' && heads !== cells) faults.push('heads at ' + heads + ', columns at ' + cells)
  }
  return faults
})()`

/** In words; empty if nothing is broken. */
export function layoutFaults(page: Page): Promise<string[]> {
  return page.evaluate(LOOK)
}
