// Where this gate is and what it keeps where, for the page of settings. Grants and people have tables
// of their own.

import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { readPackageVersion } from '@sluice/gateway/shared/package-version'
import type { AdminParts } from '@sluice/gateway/start/run-admin'
import { describeFreezeTarget, type Freeze } from '@sluice/gateway/state/freezes'
import type { Ledger } from '@sluice/ledger/ledger'
import { MERGED_FOLDER } from '@sluice/ledger/records/files'
import type { JsonObject } from '@sluice/policy/values/json'
import { type Endpoint, endpoint } from '../http/endpoint.ts'

/** What the files of a data directory hold. */
const WHAT: Readonly<Record<string, string>> = {
  'ledger-names.db': 'the names of callers and people that the record has tokens for',
  'ledger.db': 'the record of every call, hash-chained',
  'ledger-index.db': 'the index of the ledger; built again if it is missing',
  'gate.db': 'freezes, policies in force, definitions of tools, pins, alerts',
  'session-memory.db': 'what sessions remember of answers and their sealed values, encrypted',
  'identity.db': 'grants, people and their passkeys, logins',
  'agents.db': 'the journals and memories of the agents',
  'approvals.db': 'held calls and what was decided',
  [join(MERGED_FOLDER, 'ledger.db')]: 'a copy of the records of all gates, for this console',
  [join(MERGED_FOLDER, 'ledger-index.db')]:
    'the index of that copy; both are made again if they are missing',
  'console.db': 'versions of policies that were saved from this page',
}

/** `GET /api/settings`. */
export interface SettingsView {
  readonly version: string
  /** Where the gate is reached. */
  readonly url: string
  /** The file of the configuration. */
  readonly config: string
  /** The data directory. */
  readonly data: string
  readonly files: readonly DataFileView[]
  /** The names of the policy documents. */
  readonly policies: readonly string[]
  /** `api: { change_servers: true }` of sluice.yaml. */
  readonly canChangeServers: boolean
  /** Clients reach the gate by its address; else they start it themselves. */
  readonly hasAddress: boolean
  readonly pid: number
  readonly upSeconds: number
  readonly ready: boolean
  /** Policies in shadow mode: nothing of them is enforced. */
  readonly observed: readonly string[]
  /** Why the gate is not ready; empty if it is. */
  readonly why: string
  readonly ledger: { readonly state: Ledger['state']; readonly records: number }
  /** The gates that share the store, this one too; empty if it shares none. */
  readonly gates: readonly GateView[]
  readonly frozen: readonly FreezeView[]
}

/** A database of the data directory. */
export interface DataFileView {
  readonly name: string
  /** The size with its log. */
  readonly bytes: number
  /** What the file holds. */
  readonly what: string
}

/** A gate of a shared store. */
export interface GateView {
  readonly name: string
  readonly isLive: boolean
  /** `lost`: the gate says nothing any more, and was not stopped. */
  readonly state: 'live' | 'stopped' | 'lost'
  readonly seenAtMs: number
  /** It is the gate that was asked. */
  readonly isThis: boolean
}

export interface FreezeView extends Freeze {
  /** What is frozen, for people. */
  readonly what: string
}

export function settingsEndpoints(parts: AdminParts): Endpoint[] {
  return [
    endpoint('GET /api/settings', {
      role: 'viewer',
      summary: 'the gate itself: where it is, how it is, what it keeps where',
      handle: () => readSettings(parts),
    }),
  ]
}

async function readSettings(parts: AdminParts): Promise<SettingsView> {
  const { config, freezes, policies, ledger } = parts
  const status = (await parts.control('status', {})) as JsonObject
  // Without the database nothing is known of the others.
  const gates = (await parts.cluster?.directory.list().catch(() => [])) ?? []
  return {
    version: readPackageVersion(),
    url: (parts.isPiped ? await parts.openPage() : undefined) ?? parts.url(),
    config: config.file,
    data: config.data,
    files: filesOf(config.data),
    policies: [...policies.documents.keys()],
    canChangeServers: config.canApiChangeServers,
    hasAddress: !parts.isPiped,
    pid: process.pid,
    upSeconds: Math.round(process.uptime()),
    ready: status.ready === true,
    observed: policies.now.all.flatMap(({ name, shadow }) => (shadow ? [name] : [])),
    why: String(status.why ?? ''),
    ledger: { state: ledger.state, records: ledger.figures.seq },
    gates: gates.map(({ name, isLive, state, seenAt }) => ({
      name,
      isLive,
      state: isLive ? 'live' : state === 'stopped' ? 'stopped' : 'lost',
      seenAtMs: Date.parse(seenAt),
      isThis: name === config.cluster?.name,
    })),
    frozen: freezes.list.map((frozen) => ({ ...frozen, what: describeFreezeTarget(frozen) })),
  }
}

function filesOf(directory: string): DataFileView[] {
  const merged = join(directory, MERGED_FOLDER)
  const copied = existsSync(merged) ? readdirSync(merged) : []
  return [...readdirSync(directory), ...copied.map((name) => join(MERGED_FOLDER, name))]
    .filter((name) => name.endsWith('.db'))
    .map((name) => ({
      name,
      // What was written last is in the log beside it.
      bytes: sizeOf(join(directory, name)) + sizeOf(join(directory, `${name}-wal`)),
      what: WHAT[name] ?? '',
    }))
}

function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0
}
