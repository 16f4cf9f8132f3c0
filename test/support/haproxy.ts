// HAProxy with the configuration of deploy/, in front of gates on loopback.

import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { ROOT } from './modules.ts'
import { findProgram, nameSuite, type Program } from './programs.ts'
import { until } from './start-gate.ts'

const HAPROXY: Program = {
  title: 'HAProxy',
  neededBy: "the cluster's tests need",
  package: 'haproxy',
  variable: 'SLUICE_TEST_HAPROXY',
  names: ['haproxy'],
  folders: ['/usr/sbin'],
}

export function findHaproxy(): string | undefined {
  return findProgram(HAPROXY)
}

export function nameHaproxySuite(suite: string, file: string | undefined): string {
  return nameSuite(suite, HAPROXY, file)
}

/** `gates`: three addresses, host and port. */
export async function startHaproxy(
  file: string,
  port: number,
  gates: readonly [string, string, string],
): Promise<{ readonly url: string; end(): Promise<void> }> {
  const [one, two, three] = gates
  const at = `127.0.0.1:${port}`
  const env = {
    ...process.env,
    BIND: at,
    HEALTH_HOST: at,
    GATE_1: one,
    GATE_2: two,
    GATE_3: three,
  }
  const config = join(ROOT, 'deploy', 'haproxy.cfg')
  const child = spawn(file, ['-db', '-f', config], { env, stdio: ['ignore', 'ignore', 'pipe'] })
  let log = ''
  child.stderr?.on('data', (chunk: Buffer) => {
    log += chunk
  })
  const exited = new Promise((resolve) => child.once('exit', resolve))
  const url = `http://${at}`
  await until(async () => {
    if (child.exitCode !== null) throw new Error(`HAProxy ended: ${log}`)
    return fetch(`${url}/healthz`).then(
      ({ ok }) => ok,
      () => false,
    )
  })
  return {
    url,
    end: async () => {
      child.kill('SIGTERM')
      await exited
    },
  }
}
