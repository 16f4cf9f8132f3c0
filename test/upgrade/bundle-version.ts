// The command of another version as a folder: minified, without the packages that it imports, which are those that are
// installed here. It is unpacked below node_modules, where they are found.

import { copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { rolldown } from 'rolldown'
import { STARTS } from '../../scripts/bundle.ts'

/** Three folders deep, as in the sources: modules find `package.json` and the command by a path relative to them. */
const PLACE = 'a/b/c'
const POLICY = '@sluice/policy/'

/** `tree` is the root of a checkout, with its packages installed. */
export async function bundleCommand(tree: string, folder: string): Promise<void> {
  const product = join(tree, 'packages/sluice')
  const files = [join(product, 'src/cli/main.ts'), ...findStarted(join(product, 'src'))]
  const built = await rolldown({
    input: Object.fromEntries(files.map((file) => [basename(file, '.ts'), file])),
    platform: 'node',
    external: /^(?!@sluice\/policy\/)[^./]/,
    transform: { target: 'node24' },
    checks: { ineffectiveDynamicImport: false },
    plugins: [
      {
        name: 'policy package',
        resolveId: {
          filter: { id: /^@sluice\/policy\// },
          handler: (path) => join(tree, 'packages/policy/src', `${path.slice(POLICY.length)}.ts`),
        },
      },
    ],
  })
  const dir = join(folder, PLACE)
  await built.write({ dir, entryFileNames: '[name].js', chunkFileNames: '[name].js', minify: true })
  copyFileSync(join(product, 'package.json'), join(folder, 'package.json'))
  mkdirSync(join(folder, 'bin'))
  writeFileSync(
    join(folder, 'bin/sluice.js'),
    `import { main } from '../${PLACE}/main.js'\nprocess.exitCode = await main(process.argv.slice(2))\n`,
  )
}

/** The files that start a thread or process. */
function findStarted(sources: string): string[] {
  return readdirSync(sources, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts') && !path.endsWith('.test.ts'))
    .map((path) => join(sources, path))
    .flatMap((path) =>
      [...readFileSync(path, 'utf8').matchAll(STARTS)].map(([, name]) =>
        join(dirname(path), `${name}.ts`),
      ),
    )
}
