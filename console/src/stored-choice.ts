// A choice of the user, stored in the browser. Storage may be disabled: then it lasts as long as the page.

export function readChoice(key: string): string | null {
  try {
    return localStorage.getItem(key)
  } catch {
    return null
  }
}

/** Undefined: the choice is forgotten. */
export function storeChoice(key: string, choice: string | undefined): void {
  try {
    if (choice === undefined) localStorage.removeItem(key)
    else localStorage.setItem(key, choice)
  } catch {}
}
