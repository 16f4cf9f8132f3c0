// How the console's page is built: one entry, the policy editor a chunk of its own, nothing inlined
// (the page's own rules forbid inline script and style). Called by scripts/build-console.ts.

import react from '@vitejs/plugin-react'
import { defineConfig, type Plugin } from 'vite'

// Whoever calls it, a test among them: the page is what users get.
process.env.NODE_ENV = 'production'

/** The page is in English: the library leaves out a language whose messages are null. */
const ENGLISH_ALONE: Plugin = {
  name: 'english alone',
  load: {
    filter: {
      id: /[\\/]react-(aria|stately|aria-components)[\\/].*[\\/]intl[\\/](?:.*[\\/])?(?!en-US)[\w-]+\.m?js$/,
    },
    handler: () => 'export default null',
  },
}

/** The page forbids strings as HTML, also the empty one that the library empties its announcements with. */
const EMPTY_BY_NODES: Plugin = {
  name: 'empty by nodes',
  transform: {
    filter: { id: /[\\/]LiveAnnouncer\.m?js$/ },
    handler: (code) => code.replaceAll(/\.innerHTML = ''/g, '.replaceChildren()'),
  },
}

export default defineConfig({
  root: import.meta.dirname,
  base: '/',
  plugins: [react(), ENGLISH_ALONE, EMPTY_BY_NODES],
  build: {
    outDir: '../../../dist/sluice/dist/console',
    emptyOutDir: true,
    target: 'es2023',
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    // Few requests: the first page and what pages share are one chunk, the other pages another, the calendar a third,
    // and all styles one sheet.
    cssCodeSplit: false,
    rolldownOptions: {
      output: {
        codeSplitting: {
          groups: [
            {
              name: 'index',
              test: /node_modules[\\/](?!@codemirror|@lezer|style-mod|w3c|crelt|@internationalized|react-[\w-]+[\\/].*(?:[cC]alendar|[dD]ate|spinbutton))|packages[\\/](?!console[\\/]page[\\/])|page[\\/]src[\\/](ui[\\/](?!date-time)|(?!palette)[\w-]+\.tsx?$|pages[\\/](overview|approvals)[\\/](?!alert\.tsx))/,
            },
            {
              name: 'pages',
              test: /page[\\/]src[\\/](palette|pages[\\/](?!policy[\\/](editor|complete)\.|ledger[\\/]day))/,
            },
            {
              name: 'days',
              test: /node_modules[\\/](@internationalized|react-[\w-]+[\\/].*(?:[cC]alendar|[dD]ate|spinbutton))|page[\\/]src[\\/](ui[\\/]date-time|pages[\\/]ledger[\\/]day)/,
            },
          ],
        },
      },
    },
  },
})
