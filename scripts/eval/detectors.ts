// `npm run eval -- detectors [--texts DIR] [--excerpts N]`: recall of every kind of data on labelled texts,
// and false alarms of the kinds that may deny on harmless ones, with the upper 95 % bound (Clopper-Pearson).
// Exit code 1 if the bound is above 1 %. The texts are in test/cases/detectors. With --texts, excerpts of all
// text files below a folder instead, such as node_modules: real documents, code, definitions, logs, tables.

import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { extname, join } from 'node:path'
import {
  DETECTOR_FILES,
  type HarmlessScore,
  scoreDetectors,
  scoreHarmless,
} from '../../test/support/score-detectors.ts'
import type { RunOptions } from '../dispatch.ts'

const FALSE_ALARMS_MAX = 0.01

export function run(options: RunOptions): number {
  if (typeof options.texts === 'string')
    return report(scoreFolder(options.texts, Number(options.excerpts ?? 1_000)), options)
  const { recall, harmless } = scoreDetectors(DETECTOR_FILES)
  if (!options.json) {
    console.log('| kind | found | of | recall |\n|---|---|---|---|')
    for (const { kind, found, of } of recall)
      console.log(`| ${kind} | ${found} | ${of} | ${((100 * found) / of).toFixed(0)} % |`)
    console.log('')
  }
  return report(harmless, options, { recall })
}

function report(harmless: readonly HarmlessScore[], { json }: RunOptions, more = {}): number {
  if (json) console.log(JSON.stringify({ ...more, harmless }, null, 2))
  else {
    console.log('| harmless texts | of | false alarms | upper 95 % bound |\n|---|---|---|---|')
    for (const { name, of, alarms, bound } of harmless)
      console.log(`| ${name} | ${of} | ${alarms.length} | ${(100 * bound).toFixed(2)} % |`)
    for (const { alarms } of harmless.slice(0, -1))
      for (const alarm of alarms) console.log(`false alarm: ${alarm}`)
  }
  return (harmless.at(-1)?.bound ?? 1) <= FALSE_ALARMS_MAX ? 0 : 1
}

const KINDS: Readonly<Record<string, string>> = {
  '.md': 'documents',
  '.txt': 'documents',
  '.html': 'documents',
  '.js': 'code',
  '.ts': 'code',
  '.py': 'code',
  '.sh': 'code',
  '.sql': 'code',
  '.json': 'JSON',
  '.jsonl': 'JSON',
  '.yaml': 'YAML',
  '.yml': 'YAML',
  '.csv': 'tables',
  '.tsv': 'tables',
  '.log': 'logs',
}
const EXCERPT_CHARS = 1_200
const EXCERPTS_OF_FILE = 20
const FILE_BYTES_MAX = 4_000_000

/** Of each kind of file so many excerpts, chosen by a hash of their place: the same in every run, and not
 * by a person. */
function scoreFolder(folder: string, most: number): HarmlessScore[] {
  const found = new Map<string, { order: string; place: string }[]>()
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    const kind = KINDS[extname(name)]
    if (kind === undefined) continue
    const stat = statSync(join(folder, name), { throwIfNoEntry: false })
    if (!stat?.isFile() || stat.size > FILE_BYTES_MAX) continue
    const places = found.get(kind) ?? []
    found.set(kind, places)
    const excerpts = Math.min(EXCERPTS_OF_FILE, Math.ceil(stat.size / EXCERPT_CHARS))
    for (let at = 0; at < excerpts; at++) {
      const place = `${name}\n${at}\n${excerpts}`
      places.push({ place, order: createHash('sha256').update(place).digest('hex') })
    }
  }
  const texts = [...found].map(([kind, places]) => {
    const chosen = places.sort((one, other) => (one.order < other.order ? -1 : 1)).slice(0, most)
    return { kind, texts: chosen.map(({ place }) => readExcerpt(folder, place)) }
  })
  return [
    ...texts.map((one) => scoreHarmless(one.kind, one.texts)),
    scoreHarmless(
      'all',
      texts.flatMap((one) => one.texts),
    ),
  ]
}

function readExcerpt(folder: string, place: string): string {
  const [name = '', at, of] = place.split('\n')
  const text = readFileSync(join(folder, name), 'utf8')
  const start = Math.floor((text.length * Number(at)) / Number(of))
  return text.slice(start, start + EXCERPT_CHARS)
}
