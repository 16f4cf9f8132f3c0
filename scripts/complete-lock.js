// `node scripts/complete-lock.js`, after every `npm install` that changed package-lock.json. Tools
// with native parts have one optional package per platform. If a registry lacks one of them, npm
// omits it from the lock file, and `npm ci` then rejects the whole file. This adds each one back at
// its exact version, with the platform of its name and without a hash (the registry has neither the
// archive nor its metadata), so that `npm ci` works and other platforms find theirs. They are tools for
// development on another platform than the one that made the lock file; no package that is shipped is among them.
import { readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const file = join(dirname(dirname(fileURLToPath(import.meta.url))), 'package-lock.json')
const lock = JSON.parse(readFileSync(file, 'utf8'))
const added = []

for (const [parent, entry] of Object.entries(lock.packages)) {
  for (const [name, version] of Object.entries(entry.optionalDependencies ?? {})) {
    if (isLocked(parent, name)) continue
    // A range cannot be locked; the tools in question all pin their parts.
    if (!/^\d+\.\d+\.\d+/.test(version)) throw new Error(`${parent}: ${name}@${version} is a range`)
    const { cpu, libc, os } = platformOf(name)
    // In npm's order of keys, so that npm leaves the entry unchanged; undefined ones vanish.
    const { dev, peer } = entry
    const found = { version, cpu, dev, libc, optional: true, os, peer }
    lock.packages[`node_modules/${name}`] = found
    added.push(`${name}@${version}`)
  }
}

if (added.length > 0) {
  const root = Object.entries(lock.packages).filter(([path]) => path === '')
  const rest = Object.entries(lock.packages).filter(([path]) => path !== '')
  rest.sort(([a], [b]) => a.localeCompare(b, 'en'))
  lock.packages = Object.fromEntries([...root, ...rest])
  writeFileSync(file, `${JSON.stringify(lock, null, 2)}\n`)
}
console.log(added.length > 0 ? `added ${added.join(', ')}` : 'package-lock.json is complete')

/** Looks where Node would: next to the parent's own dependencies first, then further up. */
function isLocked(parent, name) {
  for (
    let at = parent;
    at !== '';
    at = at.slice(0, Math.max(0, at.lastIndexOf('/node_modules/')))
  ) {
    if (lock.packages[`${at}/node_modules/${name}`] !== undefined) return true
  }
  return lock.packages[`node_modules/${name}`] !== undefined
}

/** `@biomejs/cli-linux-arm64-musl` -> linux, arm64, musl. */
function platformOf(name) {
  const words = name.split('/').at(-1).split('-')
  const pick = (known) => words.find((word) => known.includes(word))
  const os = pick(['android', 'darwin', 'freebsd', 'linux', 'openharmony', 'win32'])
  const cpu = pick([
    'arm',
    'arm64',
    'ia32',
    'loong64',
    'ppc64',
    'riscv64',
    's390x',
    'wasm32',
    'x64',
  ])
  if (cpu === undefined) throw new Error(`cannot tell the platform of \`${name}\` from its name`)
  const musl = words.some((word) => word.startsWith('musl'))
  const libc = os === 'linux' ? [musl ? 'musl' : 'glibc'] : undefined
  return { cpu: [cpu], libc, os: os === undefined ? undefined : [os] }
}
