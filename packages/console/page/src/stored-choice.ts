// A choice of the user, stored in the browser. Storage may be disabled: then it lasts as long as the page.

import { attempt } from '@sluice/policy/structures/attempt'

export function readChoice(key: string): string | null {
  return attempt(() => localStorage.getItem(key), null)
}

/** Undefined: the choice is forgotten. */
export function storeChoice(key: string, choice: string | undefined): void {
  attempt(() =>
    choice === undefined ? localStorage.removeItem(key) : localStorage.setItem(key, choice),
  )
}
