// How the console's page is built: one entry, the policy editor a chunk of its own, nothing inlined
// (the page's own rules forbid inline script and style). Called by scripts/build-console.ts.

import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

// Whoever calls it, a test among them: the page is what users get.
process.env.NODE_ENV = 'production'

export default defineConfig({
  root: import.meta.dirname,
  base: '/',
  plugins: [react()],
  build: {
    outDir: '../../../dist/sluice/dist/console',
    emptyOutDir: true,
    target: 'es2023',
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    // Few requests for the first page: it and what pages share are one chunk, and all styles are one sheet.
    cssCodeSplit: false,
    rolldownOptions: {
      output: {
        codeSplitting: {
          groups: [
            {
              name: 'index',
              test: /node_modules[\\/](?!@codemirror|@lezer|style-mod|w3c|crelt)|packages[\\/](?!console[\\/]page[\\/])|page[\\/]src[\\/](ui[\\/]|(?!palette)[\w-]+\.tsx?$|pages[\\/](overview|approvals)[\\/](?!alert\.tsx))/,
            },
          ],
        },
      },
    },
  },
})
