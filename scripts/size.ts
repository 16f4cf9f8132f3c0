// `npm run check`: prints the characters of code of each package beside those of the last release. It fails only
// if the whole has grown by more than 8 %: a package may grow where another shrinks.

import { measurePackages } from '../test/support/code-size.ts'

/** Characters of code at revision 9df67f5f. They are measured again when a version is released. */
const RELEASED: Readonly<Record<string, number>> = {
  console: 309_687,
  policy: 484_862,
  sluice: 3_237_242,
}
const GROWTH_MAX = 1.08

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
