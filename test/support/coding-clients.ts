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
    // The newest, and one from before a hook over HTTP could block.
    versions: ['2.1.327', '2.1.197'],
    program: `@anthropic-ai/claude-code-${PLATFORM}/claude`,
  },
  codex: { package: '@openai/codex', versions: ['0.169.0'], program: '.bin/codex' },
  copilot: { package: '@github/copilot', versions: ['1.0.102'], program: '.bin/copilot' },
  gemini: { package: '@google/gemini-cli', versions: ['0.61.0'], program: '.bin/gemini' },
  opencode: {
    package: `opencode-${PLATFORM}`,
    versions: ['1.18.33'],
    program: `opencode-${PLATFORM}/bin/opencode`,
  },
  qwen: { package: '@qwen-code/qwen-code', versions: ['0.24.4'], program: '.bin/qwen' },
} as const

export type TriedClient = keyof typeof CODING_CLIENTS
export const TRIED_CLIENTS = Object.keys(CODING_CLIENTS) as readonly TriedClient[]

/** `SLUICE_TEST_CODING_CLIENTS` names another folder. */
const CACHE =
  process.env.SLUICE_TEST_CODING_CLIENTS ?? join(ROOT, 'node_modules', '.cache', 'coding-clients')

/** The program of a client; undefined if there is none and none may be installed. Throws if CI needs one. */
export function findCodingClient(
  name: TriedClient,
  version: string = CODING_CLIENTS[name].versions[0],
): string | undefined {
  const { package: pack, program } = CODING_CLIENTS[name]
  const folder = join(CACHE, `${name}-${version}`)
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

export interface ClientPlace {
  /** The home of the client's user. */
  readonly root: string
  /** The address of the model. */
  readonly model: string
}

/** How each client runs one prompt against the model, without questions of its own. */
export function startOptions(
  client: TriedClient,
  { root, model }: ClientPlace,
): { args: string[]; env: Record<string, string> } {
  const env = { HOME: root, XDG_STATE_HOME: join(root, 'state'), NO_COLOR: '1' }
  const prompt = 'Make the file'
  if (client === 'claude-code')
    return {
      args: ['-p', prompt, '--allowedTools', 'Bash'],
      env: {
        ...env,
        ANTHROPIC_BASE_URL: model,
        ANTHROPIC_API_KEY: 'sk-ant-test',
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      },
    }
  if (client === 'codex') {
    const provider = `model_providers.fake={name="fake",base_url="${model}/v1",env_key="FAKE_KEY",wire_api="responses"}`
    return {
      args: [
        'exec',
        '--skip-git-repo-check',
        '--dangerously-bypass-approvals-and-sandbox',
        '--dangerously-bypass-hook-trust',
        '-c',
        provider,
        '-c',
        'model_provider="fake"',
        '-m',
        'gpt-5',
        prompt,
      ],
      env: { ...env, CODEX_HOME: join(root, '.codex'), FAKE_KEY: 'x' },
    }
  }
  if (client === 'copilot')
    return {
      args: ['-p', prompt, '--allow-all-tools', '--allow-all-paths'],
      env: {
        ...env,
        COPILOT_HOME: join(root, '.copilot'),
        COPILOT_OFFLINE: 'true',
        COPILOT_PROVIDER_BASE_URL: model,
        COPILOT_PROVIDER_TYPE: 'anthropic',
        COPILOT_PROVIDER_API_KEY: 'x',
        COPILOT_MODEL: 'claude-sonnet-4.5',
      },
    }
  if (client === 'opencode') {
    const options = { baseURL: `${model}/v1`, apiKey: 'x' }
    const config = {
      provider: { anthropic: { options } },
      model: 'anthropic/claude-sonnet-4-5',
      small_model: 'anthropic/claude-sonnet-4-5',
    }
    return {
      args: ['run', prompt],
      env: {
        ...env,
        OPENCODE_CONFIG_CONTENT: JSON.stringify(config),
        OPENCODE_DISABLE_AUTOUPDATE: '1',
        OPENCODE_DISABLE_MODELS_FETCH: '1',
      },
    }
  }
  // Qwen Code speaks the API of Gemini CLI. Another client does not compile here.
  client satisfies 'gemini' | 'qwen'
  return {
    args: ['-p', prompt, '--yolo', '-m', 'gemini-2.5-pro'],
    env: {
      ...env,
      GEMINI_API_KEY: 'x',
      GOOGLE_GEMINI_BASE_URL: model,
      GEMINI_CLI_TRUST_WORKSPACE: 'true',
    },
  }
}
