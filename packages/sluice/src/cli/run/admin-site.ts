// The admin API and the console of a gate, loaded when somebody first asks for them: a gate must be up
// at once, and most are never looked at. Handed to runGate by `sluice up`.

import type { Service } from '../../agents/service/service.ts'
import type { AdminSite } from '../../gateway/front/http/site.ts'
import type { AdminParts } from '../../gateway/start/run-admin.ts'

/** `agents`: undefined where the gate runs none. */
export function adminSite(parts: AdminParts, agents: () => Service | undefined): AdminSite {
  let loading: Promise<AdminSite> | undefined
  let loaded: AdminSite | undefined
  const site = (): Promise<AdminSite> => {
    loading ??= import('../../admin/start-admin.ts').then(({ startAdmin }) => {
      loaded = startAdmin(parts, agents)
      return loaded
    })
    return loading
  }
  return {
    serve: async (request, response) => (await site()).serve(request, response),
    words: {
      console: async (request) => (await site()).words.console?.(request) ?? {},
      invite: async (request) => (await site()).words.invite?.(request) ?? {},
    },
    close: () => loaded?.close(),
  }
}
