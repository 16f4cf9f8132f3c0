// The documentation as a site: the Markdown of docs/, searchable without a service, and the playground.
// A link that leads nowhere fails the build.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { defineConfig, type Plugin } from 'vitepress'

const DOCS = join(import.meta.dirname, '../../docs')

/** The playground is shown in the browser alone: the program that renders the pages does without its modules. */
const browserOnly: Plugin = {
  name: 'browser only',
  enforce: 'pre',
  resolveId: (path, _importer, { ssr }) =>
    ssr && path.endsWith('/playground/playground.ts') ? { id: path, external: true } : undefined,
}

export default defineConfig({
  title: 'Sluice',
  description: 'The gate between AI agents and their tools',
  srcDir: '../docs',
  outDir: '../dist/docs',
  cacheDir: '../node_modules/.cache/vitepress',
  cleanUrls: false,
  // The page of a folder is its README, as it is in a repository.
  rewrites: { 'README.md': 'index.md', ':folder/README.md': ':folder/index.md' },
  markdown: {
    // Text in angle brackets is text, so a comment is left out before the page is read.
    html: false,
    config: ({ core, renderer }) => {
      const renderCode = renderer.rules.code_inline
      renderer.rules.code_inline = (...given) =>
        (renderCode?.(...given) ?? '').replace(
          />([^<]*)</,
          (_, text: string) => `>${breakable(text)}<`,
        )
      core.ruler.before('normalize', 'comments', (state) => {
        state.src = state.src.replace(/^<!--.*-->$/gm, '')
      })
    },
  },
  themeConfig: {
    search: { provider: 'local' },
    outline: { level: [2, 3] },
    nav: [
      { text: 'Quickstart', link: '/quickstart/' },
      { text: 'Playground', link: '/how-to/playground' },
      // Written beside the pages of docs/, by scripts/docs.ts.
      { text: 'Tools', link: '/catalogue/index.html', target: '_self' },
      { text: 'What a gate cannot stop', link: '/concepts/threats' },
    ],
    sidebar: readMenu(),
  },
  vite: {
    // The site has its own version of Vite, and no configuration of the console's.
    configFile: false,
    plugins: [browserOnly],
    resolve: { alias: { 'node:util': join(import.meta.dirname, '../playground/no-colour.ts') } },
  },
})

/** A long name may go on in the next line after `_`, `.` or `/`, so that a column of names leaves room on a phone. */
function breakable(text: string): string {
  return text.replace(/[_./](?=[A-Za-z])/g, '$&<wbr>')
}

interface MenuEntry {
  readonly text: string
  /** From the root of the site. */
  readonly link: string
}

interface MenuGroup {
  readonly text: string
  readonly collapsed: boolean
  readonly items: MenuEntry[]
}

/** The lists of docs/README.md, in the order of a reader's life. Decisions are linked there, and are in no menu. */
function readMenu(): MenuGroup[] {
  const [, ...groups] = readFileSync(join(DOCS, 'README.md'), 'utf8').split(/^## /m)
  return groups.map((group) => {
    const [text = ''] = group.split('\n')
    const rows = group.split('\n').filter((line) => line.startsWith('- '))
    const links = rows.flatMap((row) => [...row.matchAll(/\[([^\]]+)\]\(([^)]+)\)/g)])
    return {
      text,
      collapsed: text === 'Reference',
      items: links.map(([, name = '', path = '']) => ({
        text: `${name.charAt(0).toUpperCase()}${name.slice(1)}`,
        link: `/${path.replace(/README\.md$|\.md$/, '')}`,
      })),
    }
  })
}
