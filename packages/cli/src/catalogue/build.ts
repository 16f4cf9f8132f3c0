// `sluice catalogue build`: a static site of all known servers, a page for each server and each tool,
// as HTML and Markdown, with a search. Writes into a folder that is empty or was written by it.

import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { getAssessment } from '@sluice/catalogue/pages/assessment-cache'
import { attacksPage } from '@sluice/catalogue/pages/attacks-page'
import { titleWithProduct } from '@sluice/catalogue/pages/product-name'
import { countTools, serverPage, summaryOf } from '@sluice/catalogue/pages/server-page'
import { toolPage } from '@sluice/catalogue/pages/tool-page'
import type { Page } from '@sluice/guard/show/page'
import { htmlOf, SEARCH, STYLE } from '@sluice/guard/show/page-html'
import { markdownOf } from '@sluice/guard/show/page-markdown'
import type { ToolDefinition } from '@sluice/policy/calls/tools'
import { defineCommand } from '../terminal/define-command.ts'
import { CliError } from '../terminal/errors.ts'
import { plural } from '../terminal/output.ts'
import { readDefinitions } from '../terminal/read-tools.ts'

const EXAMPLES = `
Examples:
  sluice catalogue build site --tools tools.json     # then open site/index.html
  sluice catalogue build site --tools tools.json --json`

/** In a folder that was written by this command. */
const MARK = '.sluice-catalogue'

export const addCatalogueBuild = defineCommand({
  name: 'build',
  description: 'write a static site of the servers and tools that are known',
  args: { '<dir>': 'where to; empty, or written by this command before' },
  options: {
    '--tools <file>': {
      doc: 'known tools: a JSON array of definitions, each with "server"',
      required: true,
    },
  },
  examples: EXAMPLES,
  run: ({ dir, ...options }, output) => {
    const built = build(dir, readDefinitions(options.tools))
    output.value(built)
    output.line(
      `${plural(built.pages, 'page')} of ${plural(built.servers, 'server')} in ${dir}: open ${join(dir, 'index.html')}`,
    )
  },
})

function build(dir: string, tools: readonly ToolDefinition[]) {
  claim(dir)
  let pages = 0
  const made = new Set<string>()
  const write = (path: string, text: string) => {
    const file = join(dir, path)
    const folder = dirname(file)
    if (!made.has(folder)) mkdirSync(folder, { recursive: true })
    made.add(folder)
    writeFileSync(file, text)
  }
  const put = (
    path: string,
    page: Page,
    trail: { text: string; to: string }[],
    script?: string,
  ) => {
    const root = '../'.repeat(path.split('/').length - 1)
    write(`${path}.html`, htmlOf(page, { root, trail, ...(script ? { script } : {}) }))
    write(
      `${path}.md`,
      markdownOf(page, (to) => `${root}${to.replace(/(?=#|$)/, '.md')}`),
    )
    pages++
  }
  const servers = byServer(tools)
  const pathOf = paths(tools)
  for (const [server, own] of servers) {
    const home = pathOf({ server, name: '' })
    put(home, serverPage(server, own, pathOf), [])
    for (const definition of own)
      put(pathOf(definition), toolPage(definition, { neighbours: own, pathOf }), [
        { text: server, to: `${home}.html` },
      ])
  }
  put('attacks', attacksPage(), [])
  put('index', indexPage(servers, pathOf), [], 'search.js')
  write('search.js', `const TOOLS = ${searched(tools, pathOf)}\n${SEARCH}`)
  write('style.css', STYLE)
  return { dir, servers: servers.size, tools: tools.length, pages }
}

function byServer(tools: readonly ToolDefinition[]): Map<string, ToolDefinition[]> {
  const servers = new Map<string, ToolDefinition[]>()
  for (const tool of tools) {
    const own = servers.get(tool.server)
    if (own === undefined) servers.set(tool.server, [tool])
    else own.push(tool)
  }
  return servers
}

/** Never over somebody's files. */
function claim(dir: string): void {
  if (existsSync(dir) && readdirSync(dir).length > 0 && !existsSync(join(dir, MARK)))
    throw new CliError('CLI_FILE', `\`${dir}\` is not empty`, 'name an empty folder or a new one')
  try {
    mkdirSync(dir, { recursive: true })
    writeFileSync(join(dir, MARK), 'written by sluice catalogue build\n')
  } catch (error) {
    throw new CliError(
      'CLI_FILE',
      `\`${dir}\` cannot be written: ${(error as Error).message}`,
      'name another folder',
    )
  }
}

/** A path for each tool and server: plain letters, and never the same for two (also not by case). */
function paths(
  tools: readonly ToolDefinition[],
): (one: { server: string; name: string }) => string {
  const taken = new Map<string, string>()
  const known = new Map<string, string>()
  const pathOf = ({ server, name }: { server: string; name: string }): string => {
    const id = JSON.stringify([server, name])
    const before = known.get(id)
    if (before !== undefined) return before
    const plain = (text: string) =>
      text.replace(/[^A-Za-z0-9_-]+/g, '-').slice(0, NAME_CHARS_MAX) || 'x'
    const wanted = name === '' ? plain(server) : `${plain(server)}/${plain(name)}`
    let path = wanted
    for (let number = 2; taken.has(path.toLowerCase()); number++) path = `${wanted}-${number}`
    taken.set(path.toLowerCase(), id)
    known.set(id, path)
    return path
  }
  for (const reserved of ['index', 'attacks']) taken.set(reserved, reserved)
  for (const { server } of tools) pathOf({ server, name: '' })
  for (const tool of tools) pathOf(tool)
  return pathOf
}

const NAME_CHARS_MAX = 100

function indexPage(
  servers: ReadonlyMap<string, readonly ToolDefinition[]>,
  pathOf: (one: { server: string; name: string }) => string,
): Page {
  const all = [...servers.values()].flat()
  const rows = [...servers]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([server, own]) => [
      { text: titleWithProduct(server, server), to: pathOf({ server, name: '' }) },
      summaryOf(countTools(own)),
    ])
  return {
    title: 'What your tools can do',
    lead: `${plural(servers.size, 'server')}, ${summaryOf(countTools(all))}.`,
    sections: [
      { heading: 'Servers', blocks: [{ kind: 'table', head: ['server', 'tools'], rows }] },
      {
        heading: 'Attacks',
        blocks: [
          {
            kind: 'table',
            head: ['library'],
            rows: [[{ text: 'How tools are turned against their users', to: 'attacks' }]],
          },
        ],
      },
    ],
  }
}

function searched(
  tools: readonly ToolDefinition[],
  pathOf: (one: { server: string; name: string }) => string,
): string {
  const rows = tools.map((tool) => {
    const { category, risk, unknown } = getAssessment(tool)
    const labels = unknown ? ['unknown', `perhaps ${category}`] : [category, risk]
    return [`${tool.server}/${tool.name}`, `${pathOf(tool)}.html`, ...labels]
  })
  return JSON.stringify(rows).replaceAll('<', '\\u003c')
}
