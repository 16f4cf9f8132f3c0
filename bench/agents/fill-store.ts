// A store of many agents that have worked 15 turns and have 20 files. A few do the work; the others
// are copies of their rows: journal, run, checkpoint and answers, each with its own family, so that
// every agent has on disk what real work leaves there. Forks would share their origin's memory, and
// a hundred thousand prompts would take an hour.

import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { ModelSettings } from '../../packages/agents/src/models/models.ts'
import { Service } from '../../packages/agents/src/service/service.ts'

const WORKERS = 10
const BATCH = 500

export async function fillStore(
  directory: string,
  models: ModelSettings,
  owner: string,
  agents: number,
): Promise<void> {
  const service = await Service.start({ directory, models })
  const workers: string[] = []
  for (let at = 0; at < Math.min(WORKERS, agents); at += 1) {
    const { id } = await service.create(owner, { model: 'script:work' })
    const ended = await service.prompt(owner, id, { input: `go ${at}` })
    const { fileCount, turnCount } = ended.agent.summary
    if (fileCount !== 20 || turnCount !== 16) throw new Error('the work was not done')
    workers.push(id)
  }
  await service.close()
  copyRows(join(directory, 'agents.db'), workers, agents - workers.length)
}

function copyRows(file: string, workers: readonly string[], copies: number): void {
  const database = new DatabaseSync(file)
  database.exec('PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -65536')
  const last = (table: string, key: string): number =>
    Number(database.prepare(`SELECT max(${key}) AS n FROM ${table}`).get()?.n ?? 0)
  const origins = workers.map((id) => {
    const row = database.prepare('SELECT agent, family FROM agents WHERE id = ?').get(id)
    const agent = Number(row?.agent)
    const newest = database
      .prepare('SELECT memory FROM checkpoints WHERE agent = ? ORDER BY seq DESC LIMIT 1')
      .get(agent)
    return { agent, family: Number(row?.family), memory: Number(newest?.memory) }
  })
  let agent = last('agents', 'agent')
  let family = last('families', 'family')
  let memory = last('memories', 'memory')
  const copy = (table: string, changed: Readonly<Record<string, string>>, where: string) => {
    const columns = database
      .prepare(`SELECT name FROM pragma_table_info(?)`)
      .all(table)
      .map(({ name }) => String(name))
    const expressions = columns.map((name) => changed[name] ?? name)
    return database.prepare(
      `INSERT INTO ${table} (${columns}) SELECT ${expressions} FROM ${table} WHERE ${where} = ?`,
    )
  }
  const statements = {
    families: copy('families', { family: '?' }, 'family'),
    agents: copy('agents', { agent: '?', id: '?', family: '?' }, 'agent'),
    events: copy('events', { agent: '?' }, 'agent'),
    runs: copy('runs', { agent: '?' }, 'agent'),
    checkpoints: copy('checkpoints', { agent: '?', memory: '?' }, 'agent'),
    memories: copy('memories', { memory: '?' }, 'memory'),
    answers: copy('memory_answers', { memory: '?' }, 'memory'),
  }
  for (let made = 0; made < copies; made += 1) {
    if (made % BATCH === 0) database.exec(made === 0 ? 'BEGIN' : 'COMMIT; BEGIN')
    const from = origins[made % origins.length] as (typeof origins)[number]
    agent += 1
    family += 1
    memory += 1
    statements.families.run(family, from.family)
    statements.agents.run(agent, `agent_${randomUUID()}`, family, from.agent)
    statements.events.run(agent, from.agent)
    statements.runs.run(agent, from.agent)
    statements.memories.run(memory, from.memory)
    statements.answers.run(memory, from.memory)
    statements.checkpoints.run(agent, memory, from.agent)
  }
  if (copies > 0) database.exec('COMMIT')
  database.exec('PRAGMA journal_mode = WAL')
  database.close()
}
