// Three gates share one PostgreSQL, behind HAProxy: a limit counts over all of them, an approval is asked for at one
// gate and decided at another, an agent goes on when its gate is killed, and a freeze holds at every one. Both are
// started on loopback, PostgreSQL in a temporary folder, and stopped at the end. tour.ts has the steps.

import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { People } from '../../packages/access/src/identity/people/people.ts'
import { findHaproxy, startHaproxy } from '../../test/support/haproxy.ts'
import { findPostgres, freePort, startPostgres } from '../../test/support/postgres.ts'
import { type Gate, runSluice, withGate } from '../support/gate.ts'
import { GRANTS, POLICY, runTour, TOKEN, type TourGate, TURNS } from './tour.ts'

const KEY = 'the same secret at every gate, by a variable'
const CALLER = { token: TOKEN }

const postgres = findPostgres()
const haproxy = findHaproxy()
if (postgres === undefined)
  console.log('not run: PostgreSQL is not installed, and cannot be installed or fetched here')
else {
  console.log('starting PostgreSQL and three gates, which takes some seconds')
  const database = await startPostgres(postgres)
  const port = await freePort()
  let approver = ''
  const gate = (name: string) => ({
    policy: POLICY,
    config: {
      store: database.url(),
      cluster: { name, key: KEY },
      public_url: `http://127.0.0.1:${port}`,
      grants: GRANTS,
    },
    servers: { agents: { builtin: 'agents' } },
    prepare: async (data: string) => {
      // The first gate gives the others what it has.
      if (name === 'one') approver = await addSystem(data)
      mkdirSync(join(data, 'scripts'), { recursive: true })
      writeFileSync(join(data, 'scripts', 'notes.json'), JSON.stringify({ turns: TURNS }))
    },
  })
  try {
    await withGate(gate('one'), (one) =>
      withGate(gate('two'), (two) =>
        withGate(gate('three'), async (three) => {
          const gates = [one, two, three] as const
          const hosts = gates.map(({ url }) => new URL(url).host) as [string, string, string]
          const balancer =
            haproxy === undefined ? undefined : await startHaproxy(haproxy, port, hosts)
          const by = { ...CALLER, url: balancer?.url ?? '' }
          try {
            await runTour({
              gates: [asTourGate('one', one), asTourGate('two', two), asTourGate('three', three)],
              approver,
              balance: balancer && ((server) => one.connect(server, by)),
            })
          } finally {
            await balancer?.end()
          }
        }),
      ),
    )
  } finally {
    await database.end()
  }
}

function asTourGate(name: string, gate: Gate): TourGate {
  return {
    name,
    connect: (server) => gate.connect(server, CALLER),
    ask: (path, init) => fetch(`${gate.url}${path}`, init),
    run: (...args) => runSluice('.', ...args, '--data', gate.data),
    kill: () => gate.kill(),
  }
}

/** What `sluice approvers add bot --token` does, which asks a person for a PIN. Returns the token. */
async function addSystem(data: string): Promise<string> {
  const people = People.open(data)
  const system = { name: 'bot', kind: 'system', roles: ['approver'] } as const
  const added = await people.add({ ...system, groups: [], owns: [] }, { token: true }, Date.now())
  people.close()
  return added.token ?? ''
}
