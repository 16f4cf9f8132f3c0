// The table of docs/how-to/hooks.md that says what each client with hooks can do, generated from what the gate knows
// of the client and the versions that the tests run. Run by hand after a change (`node scripts/hook-clients-page.ts`);
// a test compares.

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { CodingClient } from '../packages/gateway/src/hooks/clients/coding-client.ts'
import { CODING_CLIENTS } from '../packages/gateway/src/hooks/clients/table.ts'
import { CODING_CLIENTS as TRIED } from '../test/support/coding-clients.ts'
import { ROOT } from './run-step.ts'

const PAGE = join(ROOT, 'docs', 'how-to', 'hooks.md')
const [BEGIN, END] = [
  '<!-- This table is made by scripts/hook-clients-page.ts. -->\n',
  '<!-- End of the table. -->\n',
]
const HEAD = [
  'client',
  'tried with',
  'denies, holds',
  'answers its question',
  'runs a rewritten line',
  'if no gate answers, with `--enforce`',
]

/** The page with the table as it has to be. */
export function hookClientsPage(): string {
  const page = readFileSync(PAGE, 'utf8')
  const [start, end] = [page.indexOf(BEGIN), page.indexOf(END)]
  const rows = [HEAD, HEAD.map(() => '---'), ...Object.entries(CODING_CLIENTS).map(toRow)]
  const table = rows.map((cells) => `| ${cells.join(' | ')} |\n`).join('')
  return `${page.slice(0, start)}${BEGIN}\n${table}\n${page.slice(end)}`
}

function toRow([name, client]: [string, CodingClient]): string[] {
  const { title, abilities, isUntested, failClosedSince } = client
  const says = (can: boolean) => (can ? 'yes' : 'no')
  const tried: Readonly<Record<string, { readonly versions: readonly string[] } | undefined>> =
    TRIED
  const since =
    failClosedSince === undefined
      ? 'blocks, also if the script is gone'
      : `blocks: from ${failClosedSince} by HTTP; before, or if the version is not known, by a script`
  return [
    title,
    tried[name]?.versions.join(', ') ?? 'nothing: by its documents',
    isUntested === true ? 'observed only' : 'yes',
    says(abilities.answersQuestion),
    says(abilities.rewrites),
    isUntested === true ? '`--enforce` is refused' : since,
  ]
}

if (import.meta.main) writeFileSync(PAGE, hookClientsPage())
