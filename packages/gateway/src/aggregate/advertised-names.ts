// Names of tools or prompts as a client of all servers was given them, and what each means. A short
// one is `server__name` and tells by itself; a shortened one only this table knows.

import { createHash } from 'node:crypto'
import { JOINED_NAME_LENGTH_MAX } from '@sluice/protocol/json/limits'
import { joinName, splitToolName } from '@sluice/protocol/tool-names'
import type { View } from '../shared/view.ts'

const hash = (text: string): string => createHash('sha256').update(text).digest('base64url')

export class AdvertisedNames {
  readonly #meant = new Map<string, Map<string, string>>()
  readonly #view: () => View | undefined

  /** `view` names tools, if the client has one. */
  constructor(view: () => View | undefined = () => undefined) {
    this.#view = view
  }

  /** What a server lists now, in place of what it listed before: each name as it is given out, or
   * undefined if an earlier one of the list has that name already and it means another. */
  list(server: string, names: readonly string[]): (string | undefined)[] {
    const meant = new Map<string, string>()
    this.#meant.set(server, meant)
    const view = this.#view()
    return names.map((name) => {
      const joined = view?.nameOf(server, name) ?? joinName(server, name, hash)
      if (!meant.has(joined)) meant.set(joined, name)
      return meant.get(joined) === name ? joined : undefined
    })
  }

  /** By the view, by the table, or by the name itself; undefined if no server can be meant. */
  find(advertised: string): { readonly server: string; readonly name: string } | undefined {
    const renamed = this.#view()?.find(advertised)
    if (renamed !== undefined) return renamed
    const split = splitToolName(advertised)
    if (split === undefined) return undefined
    const name = this.#meant.get(split.server)?.get(advertised)
    return name === undefined ? split : { server: split.server, name }
  }

  /** Whether it may be short for another that the table does not have. */
  mayBeShortened(advertised: string): boolean {
    const lengthMax = this.#view()?.nameLengthMax ?? JOINED_NAME_LENGTH_MAX
    // One less where half a surrogate pair was cut off.
    if (advertised.length < lengthMax - 1 || advertised.length > lengthMax) return false
    return ![...this.#meant.values()].some((meant) => meant.has(advertised))
  }
}
