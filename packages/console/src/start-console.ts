// Puts together what the console needs beside sign-in and approvals: its page, its endpoints, and what
// they work on. Called by start-admin.ts.

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Service } from '@sluice/agents/service/service'
import type { AdminParts } from '@sluice/gateway/start/run-admin'
import type { JsonObject } from '@sluice/policy/core/json'
import { agentsEndpoints } from './endpoints/agents-endpoints.ts'
import { alertsEndpoints } from './endpoints/alerts-endpoints.ts'
import { ConsoleStore } from './endpoints/console-store.ts'
import { exportEndpoints } from './endpoints/export-endpoints.ts'
import { liveEndpoints } from './endpoints/live-endpoints.ts'
import { policyEndpoints } from './endpoints/policy-endpoints.ts'
import { serversEndpoints } from './endpoints/servers-endpoints.ts'
import { settingsEndpoints } from './endpoints/settings-endpoints.ts'
import { verifyEndpoint } from './endpoints/verify-endpoint.ts'
import { ConsolePage } from './http/serve-console.ts'
import { LedgerReader } from './queries/ledger-reader.ts'
import { ruleTextOf } from './queries/rule-text.ts'

export function startConsole(
  parts: AdminParts,
  agents: () => Service | undefined,
  nowMs: () => number,
) {
  const { config, policies, reload, tools } = parts
  const page = new ConsolePage()
  const { cluster, data: directory } = config
  const isMerged = cluster !== undefined
  const reader = new LedgerReader({ directory, isMerged, store: cluster?.store })
  const store = new ConsoleStore(config.data)
  const flushTools = () => tools.flushInTurns()
  const nameSession = (id: string) => parts.gate.sessions.nameOf(id)
  const ruleText = (policy: string, pointer: string) =>
    ruleTextOf(policies.documents, policy, pointer)
  const record = (detail: JsonObject) =>
    parts.ledger.event({ atMs: Date.now(), name: 'export', detail })
  return {
    endpoints: [
      ...liveEndpoints({ reader, ruleText, nameSession, nowMs }),
      verifyEndpoint(parts),
      ...exportEndpoints({ reader, record, nowMs }),
      ...policyEndpoints({ policies, store, reader, reload, flushTools, nowMs }),
      ...agentsEndpoints(agents, reader),
      ...settingsEndpoints(parts),
      ...alertsEndpoints(parts, reader),
      ...serversEndpoints({ parts, reader }),
    ],
    /** False if the request is not for the page or one of its files. */
    serve: (request: IncomingMessage, response: ServerResponse) => {
      const [path = '/'] = (request.url ?? '/').split('?')
      return !path.startsWith('/api/') && page.serve(path, request, response)
    },
    close: () => {
      store.close()
      void reader.close()
    },
  }
}
