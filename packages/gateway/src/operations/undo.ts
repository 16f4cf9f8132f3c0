// `sluice undo`: brings back the files of a project as they were before a line of a coding agent. Needs the gate that
// made the snapshots, because it makes them one at a time.

import { realpathSync } from 'node:fs'
import { required, text } from '@sluice/policy/document/build-shape'
import { attempt } from '@sluice/policy/structures/attempt'
import { OperationError } from '@sluice/policy/structures/operation-error'
import { commandOperation, type Operation } from './operation.ts'

const PROJECT = required(text(4_096), 'the top folder of the project')
const COMMIT = text(40)

export const LIST_SNAPSHOTS = commandOperation({
  name: 'undo.list',
  summary: 'list the last lines that changed a project; with `commit` what undoing it would change',
  role: 'viewer',
  proof: 'none',
  socket: 'undo-list',
  needsGate: true,
  command: 'undo',
  input: { project: PROJECT, commit: { shape: COMMIT, doc: 'the snapshot before the line' } },
  run: async ({ running: { snapshots } }, { project, commit }) => {
    const folder = toReal(project)
    const lines = await snapshots.list(folder)
    const changes = commit === undefined ? [] : await snapshots.compare(folder, commit)
    return {
      lines: lines.map((each) => ({ ...each })),
      changes: changes.map((each) => ({ ...each })),
    }
  },
})

export const UNDO_LINE = commandOperation({
  name: 'undo.restore',
  summary: 'bring back the files of a project as they were before a line of a coding agent',
  role: 'viewer',
  proof: 'none',
  socket: 'undo',
  needsGate: true,
  command: 'undo',
  input: { project: PROJECT, commit: required(COMMIT, 'the snapshot before the line') },
  run: async ({ record, running: { snapshots } }, { project, commit }) => {
    const changes = await snapshots.restore(toReal(project), commit)
    const detail = { project, commit, files: changes.length }
    await record('undo', detail)
    return { changes: changes.map((each) => ({ ...each })) }
  },
})

export const UNDO_OPERATIONS: readonly Operation[] = [LIST_SNAPSHOTS, UNDO_LINE]

function toReal(project: string): string {
  const real = attempt(() => realpathSync(project), undefined)
  if (real !== undefined) return real
  throw new OperationError(`there is no folder \`${project}\``, 'run it in the project')
}
