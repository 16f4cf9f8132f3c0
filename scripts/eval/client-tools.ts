// `npm run eval -- client-tools [--write]`: which tools the published coding agents offer their model, in the
// pinned versions, deferred ones included, compared with offered-tools.json. `--write` writes the file; the
// test of the catalogue then names each tool that is missing there.

import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  CODING_CLIENTS,
  findCodingClient,
  runClient,
  startOptions,
  TRIED_CLIENTS,
  type TriedClient,
} from '../../test/support/coding-clients.ts'
import { startFakeModel } from '../../test/support/fake-model.ts'
import { ROOT } from '../../test/support/modules.ts'
import type { RunOptions } from '../dispatch.ts'

const FILE = join(ROOT, 'packages/gateway/src/hooks/offered-tools.json')
/** Is in the list while others are deferred, and is never called. */
const PLACEHOLDER = 'DeferredToolPlaceholder'

export async function run({ write }: RunOptions): Promise<number> {
  const offered: Record<string, { version: string; tools: Record<string, string[]> }> = {}
  for (const client of TRIED_CLIENTS) {
    const { versions } = CODING_CLIENTS[client]
    const tools = new Map<string, string[]>()
    for (const version of versions) {
      const listed = await listTools(client, version)
      if (listed === undefined) {
        console.log(`${client}: not run, it cannot be installed here`)
        return 1
      }
      for (const [name, args] of listed)
        tools.set(name, [...new Set([...(tools.get(name) ?? []), ...args])].sort())
    }
    tools.delete(PLACEHOLDER)
    offered[client] = { version: versions[0], tools: Object.fromEntries([...tools].sort()) }
  }
  const text = writeFile(offered)
  if (write === true) writeFileSync(FILE, text)
  const isSame = text === readFileSync(FILE, 'utf8')
  console.log(
    isSame ? 'as in offered-tools.json' : 'other tools than in offered-tools.json: --write',
  )
  return isSame ? 0 : 1
}

/** A tool on each line. */
function writeFile(offered: object): string {
  const text = JSON.stringify(offered, null, 2)
  return `${text.replace(/\[[^\]]*\]/g, (list) => JSON.stringify(JSON.parse(list)).replaceAll(',', ', '))}\n`
}

async function listTools(
  client: TriedClient,
  version: string,
): Promise<ReadonlyMap<string, string[]> | undefined> {
  const program = findCodingClient(client, version)
  if (program === undefined) return undefined
  const model = await startFakeModel()
  const root = mkdtempSync(join(tmpdir(), 'sluice-offers-'))
  try {
    // Claude Code defers most tools unless it is told not to, and has `ToolSearch` only if it may.
    for (const search of ['false', 'true']) {
      mkdirSync(join(root, 'project'), { recursive: true })
      for (const folder of ['.codex', '.gemini', '.qwen'])
        mkdirSync(join(root, folder), { recursive: true })
      const settings = { security: { auth: { selectedType: 'gemini-api-key' } } }
      writeFileSync(join(root, '.gemini', 'settings.json'), JSON.stringify(settings))
      const { args, env } = startOptions(client, { root, model: model.url })
      await runClient(program, args, {
        cwd: join(root, 'project'),
        env: { ...env, ENABLE_TOOL_SEARCH: search },
      })
    }
    return model.offered
  } finally {
    model.close()
    rmSync(root, { recursive: true, force: true })
  }
}
