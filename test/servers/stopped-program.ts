// Runs one program of an agent in a code thread and prints how it ended: for a test that stops this process meanwhile.
// Called as `node stopped-program.ts TIMEOUT_MS CODE`.

import { loadImage } from '../../packages/agents/src/sandbox/load-image.ts'
import { Programs } from '../../packages/agents/src/sandbox/programs.ts'

const [timeoutMs, code] = process.argv.slice(2)
const programs = new Programs(await loadImage('program'), 1)
const run = (text: string) =>
  programs.run('me', { rest: () => undefined }, () => ({
    operation: 'start',
    text: JSON.stringify({ code: text, files: [], seed: 'a' }),
    nowMs: 0,
    polls: 1_000_000,
    timeoutMs: Number(timeoutMs),
  }))
// The first one waits for the thread.
await run('return 1')
process.stdout.write('running\n')
const ended = await run(String(code)).then(
  ({ output }) => output.ended,
  (error: Error) => error.message,
)
process.stdout.write(`${JSON.stringify(ended)}\n`)
await programs.close()
