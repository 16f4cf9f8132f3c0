// Writes the digests of a pack's definitions: node scripts/pack-definitions.ts PACK TOOLS PACKAGE VERSION.
// TOOLS is what `sluice tools export` writes. Run by hand when a pack was tested with another version.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pinOf } from '../packages/sluice/src/catalogue/pins/pin.ts'
import { sha256 } from '../packages/sluice/src/gateway/tools/pins.ts'
import { readDefinitions } from '../packages/sluice/src/terminal/read-tools.ts'
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
writeFileSync(join(ROOT, 'packages/sluice/packs', pack, 'definitions.json'), `${text}\n`)
