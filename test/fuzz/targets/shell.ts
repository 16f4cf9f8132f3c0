// Command lines: a text is read without throwing and always alike; what is certain is compared with Bash itself, the
// input as a text and a random text for each input. Bash runs in batches, restricted, with an empty PATH.

// biome-ignore-all lint/suspicious/noTemplateCurlyInString: texts of a shell

import { readShell } from '@sluice/policy/readers/shell-command'
import { compareWithBash, generateShellText } from '../../support/shell-texts.ts'
import { Random } from '../mutate.ts'

export const seeds = [
  'git status && git diff HEAD~1 | head -20',
  'for f in a "b c"; do aa "$f" $((1 + 1)); done 2>/dev/null',
  "aa <<'E'\n$(bb)\nE\ncc $(dd `ee`) <(ff) ${v:-$(gg)}",
  'if aa; then bash -c "bb; cc"; else env v=1 dd; fi | xargs -n1 ee',
  'case x in x) aa;; esac; [[ -n $v ]] && command bb || ! { cc; }',
]
export const tokens = [
  '$(',
  '`',
  "$'",
  '"',
  '\\\n',
  '<<E\n',
  ';;',
  '&&',
  '{ ',
  ' }',
  '((',
  '[[',
  'eval ',
  '${v@P}',
  '!',
]

/** Two texts each, so that `npm run fuzz -- shell` compares a million. */
export const executions = 500_000

/** Texts that wait for the next run of Bash. */
const waiting: string[] = []
const BATCH = 500
const total = { texts: 0, compared: 0, differences: [] as string[] }

export function run(input: Buffer): void {
  const text = input.toString('utf8')
  const reading = readShell(text)
  if (reading.reads && reading.uncertain !== undefined)
    throw new Error('a read that is not certain')
  const seed = input.reduce((hash, byte) => (hash * 31 + byte) >>> 0, 7)
  waiting.push(generateShellText(new Random(seed)))
  if (!text.includes('\0')) waiting.push(text)
  if (waiting.length >= BATCH) compareBatch()
}

function compareBatch(): void {
  const { texts, compared, differences } = compareWithBash(waiting.splice(0), true)
  total.texts += texts
  total.compared += compared
  total.differences.push(...differences)
  for (const difference of differences) console.error(difference)
}

/** One difference does not hide the others: they are a finding at the end. */
export function finish(): void {
  compareBatch()
  if (total.differences.length > 0) throw new Error(total.differences.join('\n'))
}

export function summarize(): string {
  const share = ((100 * total.compared) / total.texts).toFixed(1)
  return `${total.texts} texts, ${total.compared} (${share} %) certain and started something`
}
