// Runs agents until it is told to die: arguments are the data directory, the log of the counting
// server, a number n and `before` or `after`. First it lets whatever an earlier life left end. Then
// it begins a run and kills itself at the nth write to the journal, before it is sent or after it is
// known to be there. Without n it only finishes what is open, and says how runs ended. With `pause` as a
// fifth argument the run is paused and resumed, and stopped by a limit that is then raised; with `move`
// the agent is taken to a second data directory, with its memory.

import { extname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Thread } from '../../packages/agents/src/sandbox/thread.ts'
import { Service } from '../../packages/agents/src/service/service.ts'
import { loadBundleKey } from '../../packages/agents/src/transfer/bundle-key.ts'
import { writeTrustedKeys } from '../../packages/ledger/src/store/files/trusted-keys.ts'
import { standInGate } from '../agents/stand-in-gate.ts'

const [, , directory = '', log = '', position = '', when = 'after', story = ''] = process.argv
const RUN_WRITES = ['create', 'apply', 'beginEffect', 'holdEffect', 'appendProgramEvents']
const WRITES = story === 'move' ? ['takeExport', 'import'] : RUN_WRITES
const ENOUGH_TURNS = 50
/** What the script leaves. */
const [TURNS, FILES] = [4, 2]
let counting = false
let count = 0

const { ask } = Thread.prototype
Thread.prototype.ask = async function counted<Answer>(
  this: Thread,
  body: unknown,
): Promise<Answer> {
  const isWrite = counting && WRITES.includes((body as { name?: string }).name ?? '')
  if (isWrite) count += 1
  const isTheOne = isWrite && count === Number(position)
  if (isTheOne && when === 'before') process.kill(process.pid, 'SIGKILL')
  const answer = (await ask.call(this, body)) as Answer
  if (isTheOne && when === 'after') process.kill(process.pid, 'SIGKILL')
  return answer
}

const counter = join(import.meta.dirname, `counter${extname(import.meta.filename)}`)
const gate = await standInGate('count', [process.execPath, counter, log])
const scripts = join(directory, 'scripts')
const models = { environment: {}, providers: {}, scripts, prices: {} }
const service = await Service.start({ directory, gate, models })
const second = `${directory}-second`
const moved = await Service.start({ directory: second, gate, models })
const { publicKey: key } = loadBundleKey(directory)
writeTrustedKeys(second, [{ key, by: 'test', at: '' }])

const list = () => service.steps.list('me', null, 0, 100)
const open = async () => (await list()).filter(({ summary }) => summary.runId !== null)
for (const { id, state } of await list())
  if (state === 'paused' || state === 'stopped')
    await service.resume('me', id, { maxTurns: ENOUGH_TURNS })
while ((await open()).length > 0) await sleep(20)
const ends = []
for (const { id } of await list()) {
  const run = await service.steps.run('me', id, null)
  if (run !== undefined) ends.push({ id, end: run.result?.stop.reason })
}
for (const { id, summary } of await moved.steps.list('me', null, 0, 100)) {
  const { difference } = await moved.steps.replay('me', id, null)
  const isWhole = summary.turnCount === TURNS && summary.fileCount === FILES && !difference
  ends.push({ id, end: isWhole ? 'answered' : 'in part' })
}
process.stdout.write(`${JSON.stringify(ends)}\n`)

if (position !== '') {
  counting = true
  const maxTurns = story === 'pause' ? 2 : ENOUGH_TURNS
  const given = { model: 'script:run', tools: ['count/*'], maxTurns }
  const { id } = await service.create('me', given)
  if (story === 'pause') {
    const begun = await service.prompt('me', id, { input: 'go', waitMs: 0 })
    if (begun.state === 'running') {
      await service.pause('me', id, 'in between')
      await sleep(30)
      await service.resume('me', id, {})
      await service.wait('me', id, begun.runId)
    }
    await service.resume('me', id, { maxTurns: ENOUGH_TURNS })
    await service.wait('me', id, undefined)
  } else await service.prompt('me', id, { input: 'go' })
  if (story === 'move') {
    const { bundle } = await service.export('me', id, 'bundle', 'keep')
    const tools = ['count/*']
    const { restored } = await moved.import('me', bundle, tools)
    if (restored !== 'memory') throw new Error(`restored from ${restored}`)
  }
  process.stdout.write(`finished ${count}\n`)
}
await moved.close()
await service.close()
await gate.close()
