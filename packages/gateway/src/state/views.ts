// The views of sluice.yaml, and how they change while the gate runs. A view permits nothing, so an edit applies at
// once. Asked by the gate for every session at `/mcp/@NAME`.

import { Listeners } from '@sluice/policy/structures/listeners'
import { View, type ViewConfig } from '../shared/view.ts'

export class Views {
  readonly #changed = new Listeners<[]>()
  readonly onChange = this.#changed.subscribe
  #views: ReadonlyMap<string, View> = new Map()

  constructor(views: Readonly<Record<string, ViewConfig>>) {
    this.reload(views)
  }

  /** The same object until the view is another. */
  find(name: string): View | undefined {
    return this.#views.get(name)
  }

  get names(): readonly string[] {
    return [...this.#views.keys()]
  }

  /** The servers of a view among these; none if there is no such view. */
  serversOf(name: string, servers: readonly string[]): readonly string[] {
    const view = this.find(name)
    return view === undefined ? [] : servers.filter((server) => view.includesServer(server))
  }

  /** Whether clients show tools behind this name that a view lists of these servers: `support` if that is a view, and
   * `support__crm`, where the name of the tool is `crm__TOOL`. */
  isPrefix(text: string, servers: readonly string[]): boolean {
    const [name = '', server] = text.split('__')
    if (server === undefined) return this.#views.has(name)
    return this.serversOf(name, servers).includes(server)
  }

  /** What sluice.yaml says now. */
  reload(views: Readonly<Record<string, ViewConfig>>): void {
    const before = this.#views
    this.#views = new Map(
      Object.entries(views).map(([name, config]) => {
        const view = new View(name, config)
        const known = before.get(name)
        return [name, known?.digest === view.digest ? known : view]
      }),
    )
    const isSame =
      before.size === this.#views.size &&
      [...before].every(([name, view]) => this.#views.get(name) === view)
    if (!isSame) this.#changed.emit()
  }
}
