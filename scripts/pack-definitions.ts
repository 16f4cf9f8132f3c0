// Writes the digests of a pack's definitions: node scripts/pack-definitions.ts PACK TOOLS PACKAGE VERSION.
// TOOLS is what `sluice scan --out` writes. Run by hand when a pack was tested with another version.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pinOf } from '../packages/catalogue/src/pins/pin.ts'
import { readDefinitions } from '../packages/cli/src/terminal/read-tools.ts'
import { sha256 } from '../packages/gateway/src/tools/pins.ts'
import { ROOT } from './run-step.ts'

const [pack = '', file = '', server = '', version = ''] = process.argv.slice(2)
if (version === '') {
  console.error('usage: node scripts/pack-definitions.ts PACK TOOLS PACKAGE VERSION')
  process.exit(2)
}
const tools = Object.fromEntries(
  readDefinitions(file)
    .filter((definition) => definition.server === pack)
    .map((definition) => [definition.name, pinOf(definition, sha256)])
    .sort(),
)
const text = JSON.stringify({ package: server, version, tools }, null, 2)
writeFileSync(join(ROOT, 'packages/cli/packs', pack, 'definitions.json'), `${text}\n`)
