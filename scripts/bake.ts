// Bakes the images that guests run in and puts them where the published package looks for them:
// dist/sluice/dist/guest/<name>.image. Part of `npm run build`; a clone bakes on first use and needs none of it.

import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type GuestName, loadImage } from '../packages/agents/src/sandbox/load-image.ts'
import { ROOT } from './run-step.ts'

const folder = join(ROOT, 'dist/sluice/dist/guest')
mkdirSync(folder, { recursive: true })
const names: GuestName[] = ['main', 'program']
for (const name of names) writeFileSync(join(folder, `${name}.image`), await loadImage(name))
