// `npm run check`: prints the characters of code of each package beside those of the last release. It fails only
// if the whole has grown by more than `GROWTH_MAX` says: a package may grow where another shrinks.

import { measurePackages } from '../test/support/code-size.ts'

/** Characters of code at revision 9df67f5f, by the packages of today. They are measured again when a version is released. */
const RELEASED: Readonly<Record<string, number>> = {
  access: 221_425,
  agents: 459_765,
  catalogue: 256_811,
  cli: 506_025,
  console: 461_345,
  gateway: 1_059_004,
  guard: 130_135,
  'import-policylayer': 55_330,
  ledger: 325_157,
  policy: 486_973,
  protocol: 69_821,
}
/** The reasons are in docs/decisions/2026-11-19-size-with-views.md. */
const GROWTH_MAX = 1.18

const sizes = measurePackages().sort((one, other) => other.characters - one.characters)
for (const { name, characters } of sizes) print(name, characters, RELEASED[name])
const whole = sizes.reduce((sum, { characters }) => sum + characters, 0)
const before = Object.values(RELEASED).reduce((sum, characters) => sum + characters, 0)
print('in all', whole, before)
if (whole > before * GROWTH_MAX) {
  console.log(
    `the code is more than ${GROWTH_MAX} of the last release's: drop a promise or a mechanism`,
  )
  process.exitCode = 1
}

function print(name: string, characters: number, released: number | undefined): void {
  const change =
    released === undefined
      ? 'new'
      : `${(characters / released).toFixed(3)} of ${released.toLocaleString('en')}`
  console.log(`${characters.toLocaleString('en').padStart(11)}  ${name} (${change})`)
}
