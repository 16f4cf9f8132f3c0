// Which server a resource belongs to, for a client of all servers: the one that listed its URI, else
// the one with a template that fits. Where two could be meant there is none: a server must not get
// another's reads by listing what is not its own.

import { UriTemplate } from '@sluice/protocol/uri-template'
import { MEMBER_TEMPLATES_MAX } from '../shared/limits.ts'
import { TEMPLATE_STEPS_MAX } from '../shared/turn-limits.ts'
import { qualifyUri } from './qualified-handles.ts'

interface ServerResources {
  uris: ReadonlySet<string>
  templates: ReadonlyMap<string, UriTemplate>
  /** Directories of its skills, with the last slash: their files need not be listed. */
  skills: readonly string[]
}

export class ResourceRoutes {
  readonly #listed = new Map<string, ServerResources>()

  list(server: string, uris: readonly string[]): void {
    this.#of(server).uris = new Set(uris)
  }

  listTemplates(server: string, templates: readonly string[]): void {
    const routed = templates.slice(0, MEMBER_TEMPLATES_MAX)
    this.#of(server).templates = new Map(routed.map((text) => [text, new UriTemplate(text)]))
  }

  listSkills(server: string, uris: readonly string[]): void {
    this.#of(server).skills = uris.map((uri) => uri.slice(0, uri.lastIndexOf('/') + 1))
  }

  /** The servers it can belong to: one, or the resource is as unknown as if there were none. */
  find(uri: string): readonly string[] {
    const listing = this.#where(
      ({ uris, skills }) => uris.has(uri) || skills.some((root) => uri.startsWith(root)),
    )
    if (listing.length > 0) return listing
    let steps = 0
    const fitting = this.#where(({ templates }) =>
      [...templates.values()].some((each) => {
        steps += each.stepsFor(uri)
        return steps <= TEMPLATE_STEPS_MAX && each.fits(uri)
      }),
    )
    // Another server might be meant as well: then it is nobody's.
    return steps > TEMPLATE_STEPS_MAX ? [] : fitting
  }

  /** What several servers list: it is nobody's. Addresses that say their server are not among them. */
  listShared(kind: 'uris' | 'templates'): ReadonlySet<string> {
    const listed = new Set<string>()
    const shared = new Set<string>()
    for (const [server, known] of this.#listed)
      for (const address of known[kind].keys())
        if (listed.has(address)) shared.add(address)
        else if (qualifyUri(server, address) === address) listed.add(address)
    return shared
  }

  forget(server: string): void {
    this.#listed.delete(server)
  }

  /** The same for a template itself, which completions are asked of. */
  findTemplate(template: string): readonly string[] {
    return this.#where(({ templates }) => templates.has(template))
  }

  #where(holds: (listed: ServerResources) => boolean): string[] {
    return [...this.#listed].flatMap(([server, listed]) => (holds(listed) ? [server] : []))
  }

  #of(server: string): ServerResources {
    const listed = this.#listed.get(server) ?? { uris: new Set(), templates: new Map(), skills: [] }
    this.#listed.set(server, listed)
    return listed
  }
}
