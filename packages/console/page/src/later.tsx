// Pages that are loaded when they are opened. `React.lazy` keeps a failed load for good: a page whose files did not come,
// because the gate was down, is asked for again at the next visit.

import { type ComponentType, type JSX, lazy, useMemo } from 'react'

/** Loads a page. The last attempt is kept, unless it failed. */
export class LaterPage {
  readonly #load: () => Promise<ComponentType>
  #page: ComponentType | undefined

  constructor(load: () => Promise<ComponentType>) {
    this.#load = load
  }

  get page(): ComponentType {
    this.#page ??= lazy(async () => {
      try {
        return { default: await this.#load() }
      } catch (error) {
        this.#page = undefined
        throw error
      }
    })
    return this.#page
  }
}

export function Later({ of }: { of: LaterPage }): JSX.Element {
  const Page = useMemo(() => of.page, [of])
  return <Page />
}
