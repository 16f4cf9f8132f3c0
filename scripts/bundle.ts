// The command in few files: dist/bundle, from what the compiler wrote to dist. A start would else
// open some hundred and seventy of them. Packages stay where they are installed, and so does what is
// started by its file's name (threads, processes): it is told where its file stands. Part of the build.

import { readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { build, type Plugin } from 'esbuild'
import { ROOT } from './run-step.ts'

const DIST = join(ROOT, 'dist')

/** `import.meta` says where the bundle is; every module is to know where it stood. */
const inPlace: Plugin = {
  name: 'in place',
  setup({ onLoad }) {
    onLoad({ filter: /\.js$/ }, ({ path }) => {
      const file = relative(DIST, path)
      const folder = JSON.stringify(`/../${dirname(file)}`)
      const contents = readFileSync(path, 'utf8')
        .replaceAll('import.meta.dirname', `(import.meta.dirname + ${folder})`)
        .replaceAll(
          'import.meta.filename',
          `(import.meta.dirname + ${JSON.stringify(`/../${file}`)})`,
        )
        .replaceAll(
          'import.meta.url',
          `new URL(${JSON.stringify(`../${file}`)}, import.meta.url).href`,
        )
      return { contents, loader: 'js' }
    })
  },
}

await build({
  entryPoints: [join(DIST, 'cli', 'main.js')],
  outdir: join(DIST, 'bundle'),
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node24',
  packages: 'external',
  plugins: [inPlace],
  logLevel: 'warning',
})
