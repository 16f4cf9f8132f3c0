// The files of deploy/, without starting what they describe: the configuration is one, Kubernetes objects are rendered and
// have only fields that the API has, and the systemd unit is accepted.

import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Deployment, StatefulSet } from 'kubernetes-models/apps/v1'
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1'
import { ConfigMap, Service } from 'kubernetes-models/v1'
import { describe, expect, test } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { readConfig } from '../../packages/gateway/src/config/config.ts'
import { CLIENT_KEEP_ALIVE_MS } from '../../packages/gateway/src/shared/limits.ts'
import { readVersion } from '../../scripts/standalone.ts'
import { findKubectl } from '../support/kubectl.ts'
import { ROOT } from '../support/modules.ts'
import { CLUSTER_KEY } from '../support/postgres.ts'

const read = (...path: string[]): string => readFileSync(join(ROOT, 'deploy', ...path), 'utf8')

test('the configuration is one', () => {
  const environment = {
    SLUICE_STORE: 'postgres://sluice@db/sluice',
    SLUICE_GATE: 'gate-1',
    SLUICE_CLUSTER_KEY: CLUSTER_KEY,
    SLUICE_PUBLIC_URL: 'http://localhost:7433',
  }
  const file = join(ROOT, 'deploy', 'sluice.yaml')
  const { config, problems } = readConfig({ file, text: read('sluice.yaml') }, environment)
  expect(problems).toEqual([])
  expect(config?.cluster).toMatchObject({ name: 'gate-1', key: CLUSTER_KEY })
})

test('Compose and Kubernetes use the version that is built, and the same files', () => {
  const image = `sluice:${readVersion(ROOT)}`
  expect(read('compose.yaml')).toContain(`localhost/${image}}`)
  for (const overlay of OVERLAYS)
    expect(read('kubernetes', overlay, 'kustomization.yaml')).toContain(
      `newTag: ${readVersion(ROOT)} }`,
    )
  for (const name of ['sluice.yaml', 'policy.yaml'])
    expect(read('kubernetes/base', name)).toBe(read(name))
  expect(read('kubernetes/balancers/haproxy.cfg')).toBe(read('haproxy.cfg'))
})

test('HAProxy keeps an idle connection of a client as long as a gate does', () => {
  const [, seconds] = /^ {2}timeout http-keep-alive (\d+)s$/m.exec(read('haproxy.cfg')) ?? []
  expect(Number(seconds) * 1_000).toBe(CLIENT_KEEP_ALIVE_MS)
})

const OVERLAYS = ['balancers', 'direct']
const RENDERED = [...OVERLAYS, 'small', 'large']
const MODELS = { ConfigMap, Deployment, PodDisruptionBudget, Service, StatefulSet }
type Kind = keyof typeof MODELS
interface Rendered {
  readonly kind: Kind
  readonly metadata: { readonly name: string }
  // biome-ignore lint/suspicious/noExplicitAny: the schemas check them.
  readonly [field: string]: any
}

const kubectl = findKubectl()
const suite = kubectl === undefined ? 'Kubernetes (not run: kubectl is not here)' : 'Kubernetes'
describe.skipIf(kubectl === undefined)(suite, () => {
  const render = (overlay: string): Rendered[] => {
    const folder = join(ROOT, 'deploy/kubernetes', overlay)
    const text = execFileSync(kubectl ?? '', ['kustomize', folder], { encoding: 'utf8' })
    return parseAllDocuments(text).map((one) => one.toJS() as Rendered)
  }
  const find = (objects: readonly Rendered[], kind: Kind, name: string): Rendered => {
    const found = objects.find((one) => one.kind === kind && one.metadata.name.startsWith(name))
    if (found === undefined) throw new Error(`there is no ${kind} called ${name}`)
    return found
  }

  test.each(RENDERED)('%s is what the published schemas allow', (overlay) => {
    const objects = render(overlay)
    for (const object of objects) new MODELS[object.kind](object as never).validate()
    const gates = find(objects, 'StatefulSet', 'gate')
    expect(gates.spec.replicas).toBe(overlay === 'small' ? 1 : 3)
    const wrong = { ...gates, spec: { ...gates.spec, replicas: 'three' } }
    expect(() => new StatefulSet(wrong as never).validate()).toThrow(/replicas/)
  })

  /** The schemas allow fields that nobody knows; the types made of them do not. */
  test('they have no field that nobody knows', () => {
    const objects = RENDERED.flatMap(render)
    expect(findUnknownFields(objects)).toBe('')
    const [first] = objects
    expect(findUnknownFields([{ ...first, sepc: {} } as unknown as Rendered])).toContain('sepc')
  })

  test('the name of the gates is in one place of an overlay', () => {
    const folder = mkdtempSync(join(tmpdir(), 'sluice-kustomize-'))
    try {
      execFileSync('cp', ['-r', join(ROOT, 'deploy/kubernetes'), folder])
      const file = join(folder, 'kubernetes/balancers/kustomization.yaml')
      writeFileSync(file, readFileSync(file, 'utf8').replace('gate.example.com', 'tools.test'))
      const text = execFileSync(kubectl ?? '', ['kustomize', join(folder, 'kubernetes/balancers')])
      expect(text.toString()).not.toContain('gate.example.com')
      expect(text.toString()).toContain('https://tools.test')
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })

  test('the balancers reach the gates by their names; none is alone', () => {
    const objects = render('balancers')
    const { metadata, spec } = find(objects, 'StatefulSet', 'gate')
    const pods = Array.from(
      { length: spec.replicas },
      (_, at) => `${metadata.name}-${spec.ordinals.start + at}`,
    )
    const servers = [...read('haproxy.cfg').matchAll(/^ {2}server (\S+) "\$\{(\S+)\}"$/gm)]
    expect(new Set(servers.map(([, name]) => name))).toEqual(new Set(pods))
    const balancer = find(objects, 'Deployment', 'sluice-balancer')
    const { env } = balancer.spec.template.spec.containers[0]
    for (const [, name, variable] of servers)
      expect(env).toContainEqual({
        name: variable,
        value: `${name}.${spec.serviceName}.$(NAMESPACE).svc.cluster.local:7433`,
      })
    expect(balancer.spec.replicas).toBe(2)
    // Nothing else is in front of the gates: a Service that spreads requests would end sign-ins.
    const services = objects.filter(
      (one) => one.kind === 'Service' && one.spec.selector.app === 'sluice',
    )
    expect(services.map((one) => one.spec.clusterIP)).toEqual(['None'])
    expect(render('direct').map(({ kind }) => kind)).not.toContain('Deployment')
  })
})

/** What the compiler says of objects whose fields the types of the Kubernetes API do not have. */
function findUnknownFields(objects: readonly Rendered[]): string {
  const kinds = [...new Set(objects.map(({ kind }) => kind))]
  const folders: Record<Kind, string> = {
    ConfigMap: 'v1',
    Deployment: 'apps/v1',
    PodDisruptionBudget: 'policy/v1',
    Service: 'v1',
    StatefulSet: 'apps/v1',
  }
  const lines = [
    ...kinds.map((kind) => `import type { I${kind} } from 'kubernetes-models/${folders[kind]}'`),
    ...objects.map(
      (object, at) => `export const object${at}: I${object.kind} = ${JSON.stringify(object)}`,
    ),
  ]
  // Below node_modules, where the types are found.
  const folder = mkdtempSync(join(ROOT, 'node_modules/.cache/kubernetes-'))
  try {
    const file = join(folder, 'objects.ts')
    writeFileSync(file, lines.join('\n'))
    const options = [
      '--noEmit',
      '--singleThreaded',
      '--skipLibCheck',
      '--strict',
      '--module',
      'nodenext',
    ]
    const compiler = join(ROOT, 'node_modules/typescript/bin/tsc')
    const { stdout } = spawnSync(process.execPath, [compiler, '--ignoreConfig', ...options, file], {
      encoding: 'utf8',
    })
    return stdout
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const analyze = '/usr/bin/systemd-analyze'
const hasSystemd = spawnSync(analyze, ['--version']).status === 0
const unit = hasSystemd ? 'the systemd unit' : 'the systemd unit (not run: no systemd-analyze)'
test.skipIf(!hasSystemd)(`${unit} is accepted, and exposes little`, () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-unit-'))
  try {
    const verify = (text: string): string => {
      const file = join(folder, 'sluice.service')
      writeFileSync(file, text)
      const { stdout, stderr } = spawnSync(analyze, ['verify', '--man=no', file], {
        encoding: 'utf8',
      })
      return `${stdout}${stderr}`
        .split('\n')
        .filter((line) => line.includes('sluice'))
        .join('\n')
    }
    expect(verify(read('sluice.service'))).toBe('')
    expect(verify(`${read('sluice.service')}\n[Service]\nRestrt=always\n`)).toContain('Restrt')
    const args = ['security', '--offline=true', '--threshold=20', join(folder, 'sluice.service')]
    const { status, stdout } = spawnSync(analyze, args, { encoding: 'utf8' })
    expect(status, stdout).toBe(0)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
