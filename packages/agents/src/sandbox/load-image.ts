// Loads images. The published package ships them; a clone bakes them on first use from the guest's
// sources and caches them in node_modules/.cache under a name that changes with any source, so that
// no build step is needed and no stale core is run. Called once at start.

import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { bakeImage } from './bake-image.ts'
import { QUICKJS_SHA256, sha256 } from './quickjs.ts'

/** `main` is an agent's core, `program` runs the code that an agent writes. */
export type GuestName = 'main' | 'program'

const GUEST = join(import.meta.dirname, '..', 'guest')
const CACHE = join(import.meta.dirname, '../../../../node_modules/.cache/sluice')

export async function loadImage(name: GuestName): Promise<Uint8Array<ArrayBuffer>> {
  const shipped = join(GUEST, `${name}.image`)
  if (existsSync(shipped)) return new Uint8Array(readFileSync(shipped))
  const file = join(CACHE, `${name}-${sourcesHash()}.image`)
  if (existsSync(file)) return new Uint8Array(readFileSync(file))
  const image = bakeImage(await bundleGuest(join(GUEST, `${name}.ts`)), {
    tracksRejections: name === 'program',
  })
  keep(file, image)
  return image
}

/** Bundles the entry and its imports into one script. Deterministic. */
export async function bundleGuest(entry: string): Promise<string> {
  const { build } = await import('esbuild')
  const { outputFiles } = await build({
    entryPoints: [entry],
    bundle: true,
    write: false,
    format: 'iife',
    target: 'es2023',
    minifyWhitespace: true,
    charset: 'ascii',
    logLevel: 'silent',
  })
  return outputFiles[0]?.text ?? ''
}

/** Hash of everything that determines an image. */
function sourcesHash(): string {
  const files = [GUEST, import.meta.dirname].flatMap((folder) =>
    readdirSync(folder)
      .filter((name) => name.endsWith('.ts') && !/\.test(-support)?\.ts$/.test(name))
      .sort()
      .map((name) => `${name}\n${readFileSync(join(folder, name), 'utf8')}`),
  )
  return sha256([QUICKJS_SHA256, ...files].join('\n'))
}

/**
 * Written to a temporary file and renamed: another process may be doing the same. Without the cache
 * each start bakes.
 */
function keep(file: string, image: Uint8Array): void {
  try {
    mkdirSync(CACHE, { recursive: true })
    const beside = `${file}.${process.pid}`
    writeFileSync(beside, image)
    renameSync(beside, file)
  } catch {
    // A read-only installation: baked again next time.
  }
}
