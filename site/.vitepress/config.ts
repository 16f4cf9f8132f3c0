// The documentation as a site: the Markdown of docs/, searchable without a service, and the playground.
// A link that leads nowhere fails the build.

import { globSync, readFileSync } from 'node:fs'
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
  // Text in angle brackets is text.
  markdown: { html: false },
  themeConfig: {
    search: { provider: 'local' },
    outline: { level: [2, 3] },
    nav: [
      { text: 'Quickstart', link: '/quickstart/' },
      { text: 'Playground', link: '/how-to/playground' },
      { text: 'What a gate cannot stop', link: '/concepts/threats' },
    ],
    sidebar: ['quickstart', 'how-to', 'concepts', 'reference', 'benchmarks', 'decisions'].map(
      (folder) => ({
        text: `${folder[0]?.toUpperCase()}${folder.slice(1)}`,
        collapsed: folder === 'decisions' || folder === 'benchmarks',
        items: listPages(folder),
      }),
    ),
  },
  vite: {
    // The site has its own version of Vite, and no configuration of the console's.
    configFile: false,
    plugins: [browserOnly],
    resolve: { alias: { 'node:util': join(import.meta.dirname, '../playground/no-colour.ts') } },
  },
})

function listPages(folder: string): { text: string; link: string }[] {
  return globSync(`${folder}/*.md`, { cwd: DOCS })
    .sort()
    .map((path) => ({
      text: /^# (.+)$/m.exec(readFileSync(join(DOCS, path), 'utf8'))?.[1] ?? path,
      link: `/${path.replace(/README\.md$|\.md$/, '')}`,
    }))
}
