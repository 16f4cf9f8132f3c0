// Every server that the clients of this machine know: all their files read, each entry as a server or
// with the reason why it stays. Starts nothing; a file that cannot be read is named and passed over.

import { isObject, type JsonObject } from '@sluice/policy/values/json'
import { readClientFile } from '../files/change-file.ts'
import type { ClientFile } from '../files/client.ts'
import { clientFiles, type Machine, projectFiles } from '../files/client-files.ts'
import { documentValue } from '../files/entries.ts'
import { ClientError } from '../files/errors.ts'
import { PROJECTS_MAX } from '../files/limits.ts'
import { type DiscoveredEntry, projectsOf, readEntries } from '../files/read-entries.ts'
import { readServer, type ServerReadResult } from '../files/read-server.ts'

export interface DiscoveredServer {
  readonly from: ClientFile
  readonly entry: DiscoveredEntry
  readonly reading: ServerReadResult
}

export interface DiscoveryResult {
  /** The files that are there. */
  readonly files: readonly ClientFile[]
  readonly servers: readonly DiscoveredServer[]
  readonly broken: readonly { readonly from: ClientFile; readonly error: ClientError }[]
}

export async function findServers(machine: Machine): Promise<DiscoveryResult> {
  const files: ClientFile[] = []
  const servers: DiscoveredServer[] = []
  const broken: { from: ClientFile; error: ClientError }[] = []
  const waiting = clientFiles(machine)
  const known = new Set(waiting.map(({ file }) => file))
  let claude: unknown
  for (let from = waiting.shift(); from !== undefined; from = waiting.shift()) {
    try {
      const own = from
      const text = await readClientFile(from.file, (contents) => void documentValue(contents, own))
      if (text === undefined) continue
      files.push(from)
      if (from.client === 'claude-code' && from.scope === 'user') {
        claude = documentValue(text, from)
        // The folders it knows may have files that it, and other clients, read too.
        for (const folder of projectsOf(claude).slice(0, PROJECTS_MAX)) {
          for (const shared of projectFiles(folder, machine))
            if (!known.has(shared.file)) waiting.push(shared)
        }
      }
      for (const entry of readEntries(text, from)) {
        const refused = isRefusedInClient(claude, from, entry)
          ? { ...entry, off: 'it is switched off' }
          : entry
        servers.push({ from, entry: refused, reading: readServer(refused, from, machine) })
      }
    } catch (error) {
      if (!(error instanceof ClientError)) throw error
      broken.push({ from, error })
    }
  }
  return { files, servers, broken }
}

/** Claude Code keeps in its own file which servers of a project's file the user has refused. */
function isRefusedInClient(claude: unknown, from: ClientFile, { name }: DiscoveredEntry): boolean {
  if (from.client !== 'claude-code' || from.scope !== 'project' || !isObject(claude)) return false
  const projects: JsonObject = isObject(claude.projects) ? claude.projects : {}
  const project = projects[from.folder]
  const list = isObject(project) ? project.disabledMcpjsonServers : undefined
  return Array.isArray(list) && list.includes(name)
}
