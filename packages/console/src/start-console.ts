// Puts together what the console needs beside sign-in and approvals: its page, its endpoints, and what
// they work on. Called by start-admin.ts.

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Service } from '@sluice/agents/service/service'
import { toClusterParts } from '@sluice/gateway/operations/table'
import type { AdminParts } from '@sluice/gateway/start/run-admin'
import { type Documents, makeDocument } from '@sluice/gateway/state/documents'
import { recordFirst } from '@sluice/ledger/record-first'
import { digestText } from '@sluice/ledger/records/record'
import type { JsonObject } from '@sluice/policy/values/json'
import { agentsEndpoints } from './endpoints/agents-endpoints.ts'
import { alertsEndpoints } from './endpoints/alerts-endpoints.ts'
import { ConsoleStore } from './endpoints/console-store.ts'
import { exportEndpoints } from './endpoints/export-endpoints.ts'
import { liveEndpoints } from './endpoints/live-endpoints.ts'
import { policyEndpoints } from './endpoints/policy-endpoints.ts'
import { serversEndpoints } from './endpoints/servers-endpoints.ts'
import { sessionsEndpoints } from './endpoints/sessions-endpoints.ts'
import { settingsEndpoints } from './endpoints/settings-endpoints.ts'
import { verifyEndpoint } from './endpoints/verify-endpoint.ts'
import type { Endpoint } from './http/endpoint.ts'
import { ConsolePage } from './http/serve-console.ts'
import { LedgerReader } from './queries/ledger-reader.ts'
import { ruleTextOf } from './queries/rule-text.ts'

/** The parts of the console that a server of the gate runs. */
export interface RunningConsole {
  readonly endpoints: readonly Endpoint[]
  /** Returns false if the request is not for the page or one of its files. */
  readonly serve: (request: IncomingMessage, response: ServerResponse) => boolean
  readonly reader: Pick<LedgerReader, 'ask'>
  readonly close: () => void
}

export function startConsole(
  parts: AdminParts,
  agents: () => Service | undefined,
  nowMs: () => number,
): RunningConsole {
  const { config, policies, reload, tools } = parts
  const page = new ConsolePage()
  const { cluster, data: directory } = config
  const isMerged = cluster !== undefined
  const reader = new LedgerReader({ directory, isMerged, store: cluster?.store })
  const store = new ConsoleStore(config.data)
  const flushTools = () => tools.flushInTurns()
  const nameSession = (id: string) => parts.gate.sessions.nameOf(id)
  const ruleText = (policy: string, pointer: string) =>
    ruleTextOf(policies.documents, policy, pointer) ??
    ruleTextOf(findPast(policies.documents, store, policy), policy, pointer)
  const stopKeeping = keepReplaced(policies, store, nowMs)
  const record = (detail: JsonObject) =>
    recordFirst(parts.ledger, { atMs: Date.now(), name: 'export', detail })
  const digestsOf = (args: string) => {
    const plain = digestText(args)
    return [parts.ledger.keyDigest(plain), plain]
  }
  return {
    reader,
    endpoints: [
      ...liveEndpoints({ reader, ruleText, nameSession, nowMs }),
      verifyEndpoint(parts),
      ...exportEndpoints({ reader, record, nowMs }),
      ...policyEndpoints({
        policies,
        store,
        reader,
        reload,
        flushTools,
        nowMs,
        ...toClusterParts(parts.cluster),
      }),
      ...agentsEndpoints(agents, { reader, digestsOf }),
      ...settingsEndpoints(parts),
      ...alertsEndpoints(parts, reader),
      ...serversEndpoints({ parts, reader }),
      ...sessionsEndpoints(parts, reader),
    ],
    serve: (request: IncomingMessage, response: ServerResponse) => {
      const [path = '/'] = (request.url ?? '/').split('?')
      return !path.startsWith('/api/') && page.serve(path, request, response)
    },
    close: () => {
      stopKeeping()
      store.close()
      void reader.close()
    },
  }
}

/** The document that a record names, with its text of that time; empty if nobody kept it. */
function findPast(documents: Documents, store: ConsoleStore, policy: string): Documents {
  const [name = '', digest = ''] = policy.split(' ')
  const text = store.findText(name, digest)
  const file = documents.get(name)?.file
  if (text === undefined || file === undefined) return new Map()
  return new Map([[name, makeDocument(name, file, text)]])
}

/** A text that is replaced in its file is kept too: calls that it decided are explained with it. */
function keepReplaced(
  policies: AdminParts['policies'],
  store: ConsoleStore,
  nowMs: () => number,
): () => void {
  let inForce = policies.documents
  return policies.onChange(() => {
    for (const { name, digest, text } of inForce.values())
      if (policies.documents.get(name)?.digest !== digest && !store.hasVersion(name, digest))
        store.addVersion({ atMs: nowMs(), name, digest, text, by: '', why: 'as it was' })
    inForce = policies.documents
  })
}
