// Published coding agents in pinned versions, for tests of their hooks. They are dependencies of nothing:
// installed from the npm registry into a cache when a test needs them, without their install scripts, like the
// other programs of programs.ts (`SLUICE_TEST_INSTALL=0` forbids it).

import { execFileSync, spawn } from 'node:child_process'
import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from './modules.ts'

const INSTALL_MS_MAX = 300_000
const PLATFORM = `${process.platform}-${process.arch}`

export const CODING_CLIENTS = {
  'claude-code': {
    package: `@anthropic-ai/claude-code-${PLATFORM}`,
    version: '2.1.326',
    program: `@anthropic-ai/claude-code-${PLATFORM}/claude`,
  },
  codex: { package: '@openai/codex', version: '0.169.0', program: '.bin/codex' },
  copilot: { package: '@github/copilot', version: '1.0.102', program: '.bin/copilot' },
  gemini: { package: '@google/gemini-cli', version: '0.61.0', program: '.bin/gemini' },
} as const

/** The program of a client; undefined if there is none and none may be installed. Throws if CI needs one. */
export function findCodingClient(name: keyof typeof CODING_CLIENTS): string | undefined {
  const { package: pack, version, program } = CODING_CLIENTS[name]
  const folder = join(ROOT, 'node_modules', '.cache', 'coding-clients', `${name}-${version}`)
  const file = join(folder, 'node_modules', program)
  if (!existsSync(file) && process.env.SLUICE_TEST_INSTALL !== '0') {
    process.stderr.write(`installing ${pack}@${version} from the npm registry\n`)
    mkdirSync(folder, { recursive: true })
    const args = ['install', '--no-audit', '--no-fund', '--no-save', '--ignore-scripts', '--force']
    try {
      execFileSync('npm', [...args, '--prefix', folder, `${pack}@${version}`], {
        cwd: folder,
        timeout: INSTALL_MS_MAX,
        stdio: ['ignore', 'ignore', 'pipe'],
      })
    } catch (error) {
      process.stderr.write(`${name} was not installed: ${(error as Error).message}\n`)
    }
  }
  if (existsSync(file)) return file
  if (process.env.CI) throw new Error(`the tests of hooks need ${pack}@${version}`)
  return undefined
}

export interface ClientRun {
  readonly code: number | null
  readonly output: string
}

/** Runs a client with nothing of the user's environment. */
export async function runClient(
  program: string,
  args: readonly string[],
  { cwd, env }: { readonly cwd: string; readonly env: Record<string, string> },
): Promise<ClientRun> {
  const { PATH = '' } = process.env
  const child = spawn(program, args, {
    cwd,
    env: { PATH, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => {
      output += chunk.toString()
    })
  const code = await new Promise<number | null>((resolve) => child.once('exit', resolve))
  return { code, output }
}
