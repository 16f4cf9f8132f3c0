// `sluice doctor --shadow`: what this machine runs beside the gate. Processes that look like MCP servers and
// descend from no gate, on Linux. The entries of clients and their hooks are checks of their own.

import { readFileSync } from 'node:fs'
import { listAncestors } from '@sluice/gateway/processes/peer-process'
import { listProcesses } from '@sluice/gateway/processes/process-group'
import { maskLine } from '@sluice/guard/secrets'
import { attempt } from '@sluice/policy/structures/attempt'

/** `@modelcontextprotocol/server-git`, `mcp-server-git`, `git_mcp.py`, but not `mcpherson`. */
const NAMES_MCP = /(?:^|[@/._-])mcp(?:[@/._-]|$)|modelcontextprotocol/i
const GATE = /(?:^|\/)sluice(?:\.js)?$/
const SHOWN_LENGTH = 160

/** A process that looks like an MCP server. */
export interface ShadowServer {
  readonly pid: number
  /** Its command line with secrets masked, cut. */
  readonly command: string
}

/** The outermost process of each server: one that `npx` started is named by its `npx`. */
export function listShadowServers(): ShadowServer[] {
  if (process.platform !== 'linux') return []
  const words = new Map(listProcesses().map((pid) => [pid, readWords(pid)]))
  const isServer = (pid: number) => (words.get(pid) ?? []).some((word) => NAMES_MCP.test(word))
  const isGate = (pid: number) => (words.get(pid) ?? []).some((word) => GATE.test(word))
  return [...words.keys()]
    .filter((pid) => {
      if (!isServer(pid) || pid === process.pid) return false
      const above = listAncestors(pid).map((one) => one.pid)
      return !above.some(isGate) && !above.slice(1).some(isServer)
    })
    .map((pid) => ({ pid, command: describe(words.get(pid) ?? []) }))
}

/** As it was started, with secrets masked. */
function describe(words: readonly string[]): string {
  return maskLine(words.join(' ')).slice(0, SHOWN_LENGTH)
}

/** Its command line; empty if it has ended or belongs to the kernel. */
function readWords(pid: number): string[] {
  return attempt(() => readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').filter(Boolean), [])
}
