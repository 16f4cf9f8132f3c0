// The command of another version as a folder: minified, without the packages that it imports, which are those that are
// installed here. It is unpacked below node_modules, where they are found.

import { copyFileSync, existsSync, globSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { rolldown } from 'rolldown'
import { findStarted } from '../../scripts/bundle.ts'

/** A package of the repository, and a file of it. */
const OWN = /^@sluice\/([^/]+)\/(.+)$/

/** Where the command is in a version. Modules find `package.json` and the command by a path relative to them, so the
 * bundle is as deep as they are. */
interface Layout {
  readonly product: string
  readonly main: string
  readonly depth: string
}

const PACKAGES: Layout = { product: 'packages/cli', main: 'src/main.ts', depth: 'a/b' }
/** Until 0.2.0 the product was one package. */
const ONE_PACKAGE: Layout = { product: 'packages/sluice', main: 'src/cli/main.ts', depth: 'a/b/c' }

/** `tree` is the root of a checkout, with its packages installed. */
export async function bundleCommand(tree: string, folder: string): Promise<void> {
  const layout = existsSync(join(tree, PACKAGES.product)) ? PACKAGES : ONE_PACKAGE
  const product = join(tree, layout.product)
  const sources = globSync('packages/*/src/**/*.ts', { cwd: tree }).map((path) => join(tree, path))
  const built = await rolldown({
    input: { main: join(product, layout.main), ...Object.fromEntries(findStarted(sources)) },
    platform: 'node',
    external: /^(?!@sluice\/)[^./]/,
    transform: { target: 'node24' },
    checks: { ineffectiveDynamicImport: false },
    plugins: [
      {
        name: 'packages of the repository',
        resolveId: {
          filter: { id: OWN },
          handler: (path) => {
            const [, name = '', file = ''] = OWN.exec(path) ?? []
            return join(tree, 'packages', name, 'src', `${file}.ts`)
          },
        },
      },
    ],
  })
  const dir = join(folder, layout.depth)
  await built.write({ dir, entryFileNames: '[name].js', chunkFileNames: '[name].js', minify: true })
  copyFileSync(join(product, 'package.json'), join(folder, 'package.json'))
  mkdirSync(join(folder, 'bin'))
  writeFileSync(
    join(folder, 'bin/sluice.js'),
    `import { main } from '../${layout.depth}/main.js'\nprocess.exitCode = await main(process.argv.slice(2))\n`,
  )
}
