// A gate, its client and the person who decides in one process, until it is told to die: arguments are
// the folder, the number of this life, a step such as `ledger.event 2` (the second of its kind), and
// `before` or `after`. First it finishes whatever an earlier life left. Then a call is held, approved and
// carried out, and the process kills itself at that step: each writes into the store of approvals or the
// ledger. Without a step it only finishes, and prints every request as it stands; with `none` it goes
// through and prints the steps.

import { ApprovalEngine } from '../../packages/access/src/approvals/engine.ts'
import { Requests } from '../../packages/access/src/approvals/requests.ts'
import { Ledger } from '../../packages/ledger/src/ledger.ts'
import { ADA, ownGate } from '../support/own-gate.ts'
import { PlainClient } from '../support/plain-client.ts'
import { fixture, until } from '../support/start-gate.ts'

const [, , folder = '', life = '', position = '', when = 'after'] = process.argv
const steps: string[] = []
let isCounting = false

type Work = (...args: unknown[]) => unknown

const die = (): void => void process.kill(process.pid, 'SIGKILL')

/** Notes one more step of this kind; whether it is the one. */
function isTheOne(kind: string): boolean {
  if (!isCounting) return false
  const times = steps.filter((step) => step.startsWith(`${kind} `)).length + 1
  steps.push(`${kind} ${times}`)
  return steps.at(-1) === position
}

function counted(owner: object, room: string, names: readonly string[]): void {
  const methods = owner as Record<string, Work>
  for (const name of names) {
    const original = methods[name] as Work
    methods[name] = function (this: unknown, ...args: unknown[]): unknown {
      const isHere = isTheOne(`${room}.${name}`)
      if (isHere && when === 'before') die()
      const done = original.apply(this, args)
      if (!isHere) return done
      // An outcome rides in the next commit: it is there a little later.
      if (done instanceof Promise) return done.finally(die)
      if (name === 'outcome') setTimeout(die, 50)
      else die()
      return done
    }
  }
}

counted(Requests.prototype, 'requests', ['insert', 'vote', 'approve', 'use', 'release', 'end'])
counted(Ledger.prototype, 'ledger', ['intent', 'event', 'outcome'])
counted(ApprovalEngine.prototype, 'engine', ['settled'])

const policy = `
version: 1
default: allow
tools: { office/create_payment: { action: require_approval, approval: { wait: 20s } } }
`
const gate = await ownGate({
  servers: { office: fixture('office', './office.log') },
  policy,
  folder,
})
const client = await PlainClient.open(gate as never, 'office')
// The server lists its tools before anything is counted.
await client.ask('tools/list')

const yes = (id: string) => gate.approvals.decide(id, { verdict: 'approve' }, ADA, 'terminal')
const list = () => gate.approvals.list({ limit: 1_000 })
const find = async (amount: number) =>
  (await list()).find(({ args }) => args === `{"amount":${amount}}`)

async function pay(amount: number): Promise<void> {
  const answer = client.call('create_payment', { amount })
  await until(async () => (await find(amount))?.state === 'pending')
  await yes((await find(amount))?.id as string)
  await answer
}

// What is left of earlier lives: who was asked decides, and the caller comes back.
for (const request of await list()) {
  if (request.state !== 'pending' && request.state !== 'approved') continue
  const { amount } = JSON.parse(request.args) as { amount: number }
  if (request.state === 'pending') await yes(request.id)
  await client.call('create_payment', { amount })
}
if (position !== '') {
  isCounting = true
  await pay(Number(life))
  await until(() => steps.includes('requests.end 1') && steps.at(-1)?.startsWith('ledger') === true)
  isCounting = false
  process.stdout.write(`${JSON.stringify(steps)}\n`)
} else process.stdout.write(`${JSON.stringify(await list())}\n`)
await gate.stop()
