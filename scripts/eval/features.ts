// `npm run eval -- features [--claude-flow]`: the 41 features that are promised, each tried from outside: a
// real gate, real servers, clients of both generations of MCP, and the command line. Prints `works` or
// `does not` for each. Exits with 1 if something does not work. With `--claude-flow` row 12 is
// compared with the real package, which takes some minutes to install.

import type { RunOptions } from '../dispatch.ts'
import * as agents from './features/agent-rows.ts'
import * as clients from './features/client-rows.ts'
import * as forms from './features/form-rows.ts'
import * as gate from './features/gate-rows.ts'
import { type Place, withPlace } from './features/place.ts'
import * as policy from './features/policy-rows.ts'

type Row = readonly [title: string, test: (place: Place) => Promise<boolean>]

const ROWS: readonly Row[] = [
  ['register a server, proxy URL', gate.proxy],
  ['rule per tool, deny with reason', gate.denyWithReason],
  ['rate limit per session, resets itself', gate.rateLimit],
  ['require approval', gate.approval],
  ['enforced before the server', gate.enforcedBefore],
  ['category, risk, reason, evidence', policy.classes],
  ['attacks for this access', policy.attacks],
  ['tool and server pages', policy.pages],
  ['wasm_agent_todos', agents.todos],
  ['is_stopped', agents.isStopped],
  ['wasm_agent_export', agents.exported],
  ['the 27 tools of Claude Flow', agents.claudeFlowTools],
  ['a model that answers, a loop with tools', agents.modelLoop],
  ['own memory, CPU and memory limits', agents.programLimits],
  ['survives kill -9', agents.survivesKill],
  ['conditions on arguments', gate.conditions],
  ['history, labels, trifecta', gate.labels],
  ['shadow per rule', gate.shadow],
  ['pins, diff, approve', gate.pins],
  ['inspection and redaction of answers', gate.inspection],
  ['identity, limits per user', gate.identity],
  ['audit log, tamper-evident', gate.auditLog],
  ['both generations of MCP', gate.generations],
  ['policy tests in CI', policy.policyTests],
  ['fork, pause, resume, replay', agents.pauseAndReplay],
  ['scale-out', gate.scaleOut],
  ['policy prove', policy.prove],
  ['policy replay', policy.replay],
  ['approval bound to its call', gate.approvalBound],
  ['agents behind the same policy', agents.samePolicy],
  ['byte-exact export', agents.exportTwice],
  ['bridge between generations', gate.bridge],
  ['accuracy on unseen servers', policy.accuracy],
  ['importers', policy.importers],
  ['a price, and an end of loops', forms.leash],
  ['a call compared with an earlier answer', forms.earlierAnswer],
  ['the servers as a registry', forms.registry],
  ['a build fails on a poisoned server', forms.failingBuild],
  ['policy suggest keeps what is in force', forms.stricterPolicy],
  ['one gate as several servers', clients.views],
  ['connect: a person signs in at a server', clients.connect],
]

export async function run(options: RunOptions): Promise<number> {
  let failed = 0
  await withPlace(async (place) => {
    for (const [index, [title, test]] of ROWS.entries()) {
      const result = await tried(() => test(place))
      if (result.startsWith('does not')) failed += 1
      console.log(`${String(index + 1).padStart(2)}  ${title.padEnd(42)} ${result}`)
    }
  })
  if (options['claude-flow'] !== undefined) {
    const { run: compare } = await import('./claude-flow.ts')
    failed += await compare(options)
  }
  return failed === 0 ? 0 : 1
}

async function tried(test: () => Promise<boolean>): Promise<string> {
  try {
    return (await test()) ? 'works' : 'does not'
  } catch (error) {
    return `does not: ${(error as Error).message.slice(0, 200)}`
  }
}
