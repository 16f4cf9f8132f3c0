// Installs `claude-flow` from the registry into a folder, if it is missing: 1.5 GB, so it is not a
// dependency and installed only on request. Returns the command that starts its MCP server. Used by
// the eval of the same name and by the bench of the agents.

import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, statfsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const VERSION = '3.43.0'
/** Its agents themselves; it does not install them. */
const WASM_AGENTS = '@ruvector/rvagent-wasm@0.1.0'
const BYTES_NEEDED = 4e9

export function installClaudeFlow(folder: string): string[] {
  const file = join(folder, 'node_modules', 'claude-flow', 'bin', 'cli.js')
  if (!existsSync(file)) install(folder)
  return [process.execPath, file, 'mcp', 'start']
}

function install(folder: string): void {
  mkdirSync(folder, { recursive: true })
  const { bavail, bsize } = statfsSync(folder)
  if (bavail * bsize < BYTES_NEEDED)
    throw new Error(`${folder} has ${Math.round((bavail * bsize) / 1e6)} MB free, 4,000 are needed`)
  console.log(`installing claude-flow ${VERSION}, which takes minutes`)
  writeFileSync(join(folder, 'package.json'), '{"private":true}\n')
  const npm = ['install', `claude-flow@${VERSION}`, WASM_AGENTS, '--no-audit', '--no-fund']
  execFileSync('npm', npm, { cwd: folder, stdio: 'inherit' })
}
