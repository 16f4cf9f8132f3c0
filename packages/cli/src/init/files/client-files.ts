// Where each client keeps its servers, on Linux, macOS and Windows. Platform, home and environment
// come in as arguments; folders with names nobody can know are listed. Reads names, no contents.

import { posix, win32 } from 'node:path'
import type { ClientFile, McpClientId } from './client.ts'

export interface Machine {
  readonly platform: string
  readonly home: string
  readonly environment: Readonly<Record<string, string | undefined>>
  /** Folders whose own files are looked at. */
  readonly projects: readonly string[]
  /** What is in a folder; empty if it is missing. */
  list(folder: string): readonly string[]
}

/** In the order they are shown; each may or may not be there. */
export function clientFiles(machine: Machine): ClientFile[] {
  const files = [
    ...userFiles(machine),
    ...machine.projects.flatMap((one) => projectFiles(one, machine)),
  ]
  const seen = new Set<string>()
  return files.filter(({ file }) => !seen.has(file) && seen.add(file))
}

function userFiles(machine: Machine): ClientFile[] {
  const { home, environment } = machine
  const { join } = pathsOf(machine)
  const own = (client: McpClientId, file: string): ClientFile => ({
    client,
    file,
    scope: 'user',
    folder: home,
    format: file.endsWith('.toml') ? 'toml' : 'json',
  })
  const codeFolders = ['Code', 'Code - Insiders'].map((name) =>
    join(appData(machine), name, 'User'),
  )
  const profiles = codeFolders.flatMap((user) =>
    machine.list(join(user, 'profiles')).map((name) => join(user, 'profiles', name)),
  )
  return [
    own('claude-code', join(environment.CLAUDE_CONFIG_DIR || home, '.claude.json')),
    ...desktopFolders(machine).map((folder) =>
      own('claude-desktop', join(folder, 'claude_desktop_config.json')),
    ),
    own('cursor', join(home, '.cursor', 'mcp.json')),
    ...[...codeFolders, ...profiles].map((folder) => own('vscode', join(folder, 'mcp.json'))),
    // Copilot's sessions in VS Code read the file of its command line.
    own('copilot', join(environment.COPILOT_HOME || join(home, '.copilot'), 'mcp-config.json')),
    own('windsurf', join(home, '.codeium', 'windsurf', 'mcp_config.json')),
    own('windsurf', join(home, '.codeium', 'mcp_config.json')),
    own('codex', join(environment.CODEX_HOME || join(home, '.codex'), 'config.toml')),
    own('gemini', join(home, '.gemini', 'settings.json')),
  ]
}

/** Client files that a project brings along for everyone who opens it. */
export function projectFiles(folder: string, machine: Machine): ClientFile[] {
  const { join } = pathsOf(machine)
  const own = (client: McpClientId, ...names: string[]): ClientFile => ({
    client,
    file: join(folder, ...names),
    scope: 'project',
    folder,
    format: names.at(-1)?.endsWith('.toml') ? 'toml' : 'json',
  })
  return [
    own('claude-code', '.mcp.json'),
    own('cursor', '.cursor', 'mcp.json'),
    own('vscode', '.vscode', 'mcp.json'),
    own('copilot', '.github', 'mcp.json'),
    own('codex', '.codex', 'config.toml'),
    own('gemini', '.gemini', 'settings.json'),
  ]
}

/** On Windows the app that comes as a package reads from a folder of its own, and only there. */
function desktopFolders(machine: Machine): string[] {
  const { join } = pathsOf(machine)
  const plain = join(appData(machine), 'Claude')
  if (machine.platform !== 'win32') return [plain]
  const local = machine.environment.LOCALAPPDATA || join(machine.home, 'AppData', 'Local')
  const packages = join(local, 'Packages')
  const packaged = machine
    .list(packages)
    .filter((name) => name.startsWith('Claude_'))
    .map((name) => join(packages, name, 'LocalCache', 'Roaming', 'Claude'))
  return [...packaged, plain]
}

/** Where programs keep their settings. */
function appData(machine: Machine): string {
  const { home, environment, platform } = machine
  const { join } = pathsOf(machine)
  if (platform === 'darwin') return join(home, 'Library', 'Application Support')
  if (platform === 'win32') return environment.APPDATA || join(home, 'AppData', 'Roaming')
  return environment.XDG_CONFIG_HOME || join(home, '.config')
}

export function pathsOf({ platform }: Pick<Machine, 'platform'>): typeof posix {
  return platform === 'win32' ? win32 : posix
}
