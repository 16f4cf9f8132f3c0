import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Bench, bench, call, configOf, coreImage } from '../agents.test-support.ts'
import type { StepResult, Summary } from '../guest/protocol.ts'
import type { AgentRow } from '../journal/rows.ts'

describe('a run', () => {
  test('goes from prompt over tools to the answer, and is idle after it', async () => {
    const b = await bench()
    await b.create('a')
    let step = await b.prompt('a', 'write a file', 'r1')
    expect(step.summary).toMatchObject({ state: 'running', runId: 'r1', turnCount: 0 })
    step = await b.model('a', step, 'on it', [
      call('write_file', { path: './b.txt', content: 'hello' }),
      call('write_todos', { todos: [{ content: 'one', status: 'in_progress' }, 'two'] }),
    ])
    expect(step.effects).toMatchObject([{ kind: 'model', from: 1 }])
    step = await b.model('a', step, 'done')
    expect(step.ended).toMatchObject([
      { runId: 'r1', response: 'done', turns: 2, toolCalls: 2, stop: { reason: 'answered' } },
    ])
    expect(step.summary).toMatchObject({ state: 'idle', turnCount: 2, fileCount: 1, stop: null })
    expect(b.ask('a', { ask: 'todos' })).toMatchObject([
      { id: 't1', content: 'one', status: 'in_progress' },
      { id: 't2', content: 'two', status: 'pending' },
    ])
  })

  test('a failed model call uses up no turn and leaves no orphan message', async () => {
    const b = await bench()
    await b.create('a')
    const step = await b.prompt('a')
    const failed = await b.send('a', {
      kind: 'model_failed',
      effectId: step.effects[0]?.id,
      code: 'MODEL_FAILED',
      message: 'down',
    })
    expect(failed.ended).toMatchObject([{ stop: { reason: 'model_failed' }, turns: 0 }])
    expect(failed.summary).toMatchObject({ turnCount: 0, state: 'idle' })
    const page = b.ask<{ count: number }>('a', { ask: 'messages', from: 0, bytesMax: 1_000 })
    expect(page.count).toBe(0)
  })

  test('a second prompt during a running one waits its turn', async () => {
    const b = await bench()
    await b.create('a')
    const first = await b.prompt('a', 'one', 'r1')
    const second = await b.prompt('a', 'two', 'r2')
    expect(second.effects).toEqual([])
    expect(second.summary).toMatchObject({ runId: 'r1', queued: 1 })
    const done = await b.model('a', first, 'one is done')
    expect(done.ended).toMatchObject([{ runId: 'r1' }])
    expect(done.summary).toMatchObject({ runId: 'r2', queued: 0, state: 'running' })
    expect(done.effects).toMatchObject([{ kind: 'model' }])
  })

  test('parallel results enter in the order of the calls', async () => {
    const b = await bench()
    const tools = ['x', 'y'].map((tool) => ({
      name: `s__${tool}`,
      server: 's',
      tool,
      description: '',
      inputSchema: {},
    }))
    await b.create('a', configOf({}, { tools }))
    const calls = [call('s__x', {}, 'c1'), call('s__y', {}, 'c2')]
    const sent = await b.model('a', await b.prompt('a'), '', calls)
    const [x, y] = sent.effects
    const half = await b.send('a', { kind: 'tool', effectId: y?.id, content: 'Y', isError: false })
    expect(half.effects).toEqual([])
    const both = await b.send('a', { kind: 'tool', effectId: x?.id, content: 'X', isError: false })
    expect(both.effects).toMatchObject([
      { kind: 'model', messages: [{ role: 'assistant' }, { content: 'X' }, { content: 'Y' }] },
    ])
  })

  test('a result nobody waits for is refused and changes nothing', async () => {
    const b = await bench()
    await b.create('a')
    const before = b.operations.standing(null, 'a', 0).agent.seq
    const event = { kind: 'tool', effectId: 'e9', content: '', isError: false }
    await expect(b.send('a', event)).rejects.toThrow(/nothing waits/)
    expect(b.operations.standing(null, 'a', 0).agent.seq).toBe(before)
  })
})

describe('stopping', () => {
  test('is_stopped is true the moment a limit holds, and no tool runs after it', async () => {
    const b = await bench()
    await b.create('a', configOf({ maxTurns: 2 }))
    let step = await b.prompt('a')
    step = await b.model('a', step, '', [call('write_file', { path: 'a', content: '1' })])
    expect(step.summary.stop).toBeNull()
    step = await b.model('a', step, '', [call('write_file', { path: 'b', content: '1' })])
    expect(step.summary).toMatchObject({ state: 'stopped', stop: { reason: 'max_turns' } })
    expect(step.summary.fileCount).toBe(1)
    expect(step.ended).toMatchObject([{ stop: { reason: 'max_turns' } }])
    await expect(b.prompt('a')).rejects.toThrow(/stopped/)
    await expect(b.tool('a', 'write_file', { path: 'c', content: '1' })).rejects.toThrow(/stopped/)
  })

  test.each([
    [{ maxTokens: 15 }, 'max_tokens'],
    [{ maxToolCalls: 1 }, 'max_tool_calls'],
    [{ runMs: 1_500 }, 'run_time'],
    [{ expiresAt: 1_004_000 }, 'expired'],
  ])('%j stops with %s', async (limits, reason) => {
    const b = await bench()
    await b.create('a', configOf(limits))
    let step = await b.prompt('a')
    step = await b.model('a', step, '', [call('list_files', {})])
    if (step.summary.stop === null) step = await b.send('a', { kind: 'tick' })
    expect(step.summary.stop).toMatchObject({ reason })
    expect(step.summary.runId).toBeNull()
  })

  test('cost stops where there is a price', async () => {
    const b = await bench()
    const price = { inputMicros: 3, outputMicros: 15 }
    await b.create('a', configOf({ maxCostMicros: 105 }, { price }))
    const step = await b.model('a', await b.prompt('a'), 'x')
    expect(step.summary.usage.costMicros).toBe(105)
    expect(step.summary.stop).toMatchObject({ reason: 'max_cost' })
  })

  test('the same calls with the same results three times are no progress', async () => {
    const b = await bench()
    await b.create('a')
    let step = await b.prompt('a')
    for (let turn = 0; turn < 3; turn += 1)
      step = await b.model('a', step, '', [call('list_files', {})])
    expect(step.summary.stop).toMatchObject({ reason: 'no_progress' })
  })

  test('open todos keep it going where asked for, up to a bound', async () => {
    const b = await bench()
    await b.create('a', configOf({ finishTodos: true }))
    let step = await b.model('a', await b.prompt('a'), '', [call('write_todos', { todos: ['x'] })])
    for (let reminder = 0; reminder < 3; reminder += 1) {
      step = await b.model('a', step, 'done')
      expect(step.ended).toEqual([])
    }
    step = await b.model('a', step, 'really done')
    expect(step.ended).toMatchObject([{ response: 'really done' }])
  })

  test('resume lifts a stop when its limit is raised, and not before', async () => {
    const b = await bench()
    await b.create('a', configOf({ maxTurns: 1 }))
    await b.model('a', await b.prompt('a'), 'x')
    await expect(b.send('a', { kind: 'resume', limits: {} })).rejects.toThrow(/raise the limit/)
    const step = await b.send('a', { kind: 'resume', limits: { maxTurns: 2 } })
    expect(step.summary).toMatchObject({ state: 'idle', stop: null })
    expect((await b.prompt('a')).summary.state).toBe('running')
  })

  test('stop ends the run and what waits, with results for every call', async () => {
    const b = await bench()
    await b.create('a')
    const step = await b.prompt('a', 'one', 'r1')
    await b.prompt('a', 'two', 'r2')
    const stopped = await b.send('a', { kind: 'stop', reason: 'stopped', detail: 'enough' })
    expect(stopped.ended.map(({ runId }) => runId)).toEqual(['r1', 'r2'])
    expect(stopped.dropped).toEqual([step.effects[0]?.id])
    expect(stopped.summary).toMatchObject({ state: 'stopped', stop: { reason: 'stopped' } })
  })
})

describe('what is committed', () => {
  test('survives the process: woken by replay, byte for byte', async () => {
    const b = await bench()
    await b.create('a')
    let step = await b.prompt('a')
    for (let turn = 0; turn < 8; turn += 1)
      step = await b.model('a', step, `turn ${turn}`, [
        call('write_file', { path: `f${turn}`, content: 'x'.repeat(turn * 100) }),
      ])
    const agent = b.operations.standing(null, 'a', 0).agent
    const live = b.stepper.residents.memory(agent)
    b.ask('a', { ask: 'files' })
    expect(b.stepper.residents.memory(agent).equals(live)).toBe(true)
    b.stepper.journal.close()
    const again = new Bench(b.directory, await coreImage())
    expect(again.stepper.residents.memory(agent).equals(live)).toBe(true)
    again.stepper.journal.close()
  })

  test('a random history with queries, failures and restarts replays byte for byte', async () => {
    const action = fc.oneof(
      fc.constant('prompt'),
      fc.constant('answer'),
      fc.constant('write'),
      fc.constant('todos'),
      fc.constant('query'),
      fc.constant('refused'),
      fc.constant('direct'),
      fc.constant('restart'),
    )
    const image = await coreImage()
    await fc.assert(
      fc.asyncProperty(fc.array(action, { minLength: 5, maxLength: 60 }), async (actions) => {
        let b = await bench()
        await b.create('a')
        let step: StepResult | undefined
        let count = 0
        for (const each of actions) {
          count += 1
          const waits = step?.effects.some(({ kind }) => kind === 'model') === true
          if (each === 'prompt' && !waits) step = await b.prompt('a', `p${count}`, `r${count}`)
          else if (each === 'answer' && waits) step = await b.model('a', step as StepResult, 'ok')
          else if (each === 'write' && waits)
            step = await b.model('a', step as StepResult, '', [
              call('write_file', { path: `f${count % 7}`, content: 'é'.repeat(count * 31) }),
            ])
          else if (each === 'todos') await b.tool('a', 'write_todos', { todos: [`t${count}`] })
          else if (each === 'query') b.ask('a', { ask: 'files' })
          else if (each === 'direct') await b.tool('a', 'grep', { pattern: 'é+$' })
          else if (each === 'refused')
            await expect(
              b.send('a', { kind: 'tool', effectId: 'none', content: '' }),
            ).rejects.toThrow()
          else if (each === 'restart') {
            b.stepper.journal.close()
            b = new Bench(b.directory, image)
          }
        }
        const { agent } = b.operations.standing(null, 'a', 0)
        const live = b.stepper.residents.memory(agent)
        expect(b.ask<Summary>('a', { ask: 'summary' })).toEqual(agent.summary)
        b.stepper.journal.close()
        const again = new Bench(b.directory, image)
        again.stepper.journal.run('DELETE FROM checkpoints WHERE seq > 0')
        expect(again.stepper.residents.memory(agent).equals(live)).toBe(true)
        again.stepper.journal.close()
      }),
      { numRuns: 6 },
    )
  })

  test('an event whose answer was lost is answered again, not run twice', async () => {
    const b = await bench()
    await b.create('a')
    const event = { kind: 'prompt', runId: 'r1', input: 'x', maxTurns: null }
    const first = await b.send('a', event, 'n1')
    b.stepper.journal.close()
    // As a thread that took the place of one that hung: what it had not answered is asked again.
    const again = new Bench(b.directory, await coreImage())
    expect(await again.send('a', event, 'n1')).toEqual(first)
    expect(again.operations.standing(null, 'a', 0).agent.seq).toBe(2)
    again.stepper.journal.close()
  })

  test('an agent with a known config is committed without being run, and is what it would have been', async () => {
    const b = await bench()
    const limits = fc.record({
      maxTurns: fc.integer({ min: 1, max: 9 }),
      maxTokens: fc.option(fc.integer({ min: 1, max: 9 })),
      runMs: fc.option(fc.integer({ min: 1, max: 9 })),
      finishTodos: fc.boolean(),
    })
    let count = 0
    await fc.assert(
      fc.asyncProperty(limits, fc.string({ maxLength: 20 }), async (given, instructions) => {
        const config = configOf(given, { instructions })
        const [first, second] = [`x${count++}`, `another_${count++}`]
        const step = await b.create(first, config)
        const { residents } = b.stepper
        expect(await b.create(second, config)).toEqual(step)
        const [ran, predicted] = [first, second].map(
          (id) => b.operations.standing(null, id, 0).agent,
        )
        expect(predicted?.summary).toEqual(ran?.summary)
        // Woken, its answer is compared with the one that was committed.
        expect(residents.memory(predicted as AgentRow).length).toBeGreaterThan(0)
        expect(b.ask(second, { ask: 'summary' })).toEqual(predicted?.summary)
      }),
      { numRuns: 15 },
    )
    const config = configOf({ expiresAt: 1_000_000_000 })
    expect((await b.create('soon', config)).summary.stop).toBeNull()
    const late = { ...configOf({ expiresAt: 1_000 }) }
    expect((await b.create('over', late)).summary.stop).toMatchObject({ reason: 'expired' })
  })

  test('what is answered at rest is what the guest says when it is woken', async () => {
    const b = await bench()
    await b.create('a')
    let step = await b.prompt('a')
    for (let turn = 0; turn < 20; turn += 1)
      step = await b.model('a', step, '', [
        call('write_file', { path: `f${turn}`, content: 'é'.repeat(turn) }, `w${turn}`),
        call('write_todos', { todos: [`t${turn}`, 'always'] }, `t${turn}`),
      ])
    await b.model('a', step, 'done')
    b.operations.fork('me', 'a', { ids: ['f1', 'f2'], turn: null, nowMs: b.now })
    b.operations.fork('me', 'a', { ids: ['past'], turn: 3, nowMs: b.now })
    b.operations.close()
    const asleep = new Bench(b.directory, await coreImage())
    const { residents } = asleep.stepper
    for (const id of ['a', 'f1', 'f2', 'past'])
      for (const ask of ['todos', 'files']) {
        const { agent } = asleep.operations.standing(null, id, 0)
        const kept = asleep.stepper.journal.memories.answerOf(agent, JSON.stringify({ ask }))
        const woken = residents.asking(agent, 0, (say) => say(JSON.stringify({ ask })).text)
        expect(kept).toBe(woken)
      }
    // An event of its own ends that; so does the end of the one they were forked from not.
    await asleep.tool('f1', 'write_todos', { todos: ['own'] })
    expect(asleep.ask('f1', { ask: 'todos' })).toMatchObject([{ content: 'own' }])
    asleep.operations.remove('me', 'a')
    expect(asleep.ask('f2', { ask: 'files' })).toHaveLength(20)
    expect(asleep.ask('f2', { ask: 'files', glob: 'f1*' })).toHaveLength(11)
    asleep.operations.close()
  })

  test('a commit that fails leaves nothing in memory either', async () => {
    const b = await bench()
    await b.create('a')
    await b.model('a', await b.prompt('a', 'one', 'r1'), 'done')
    const { agent } = b.operations.standing(null, 'a', 0)
    const before = b.stepper.residents.memory(agent)
    await expect(b.prompt('a', 'the same run again', 'r1')).rejects.toThrow(/UNIQUE/)
    expect(b.operations.standing(null, 'a', 0).agent).toEqual(agent)
    expect(b.stepper.residents.memory(agent).equals(before)).toBe(true)
    expect((await b.prompt('a', 'two', 'r2')).summary.state).toBe('running')
  })

  test('a journal that was tampered with does not replay', async () => {
    const b = await bench()
    await b.create('a')
    await b.prompt('a')
    b.stepper.journal.close()
    const again = new Bench(b.directory, await coreImage())
    again.stepper.journal.run(`UPDATE events SET event = replace(event, 'go', 'no') WHERE seq = 2`)
    expect(() => again.ask('a', { ask: 'todos' })).toThrow(/does not replay/)
    again.stepper.journal.close()
  })
})

describe('owners and families', () => {
  test("another principal's agent is not found", async () => {
    const b = await bench()
    await b.create('a')
    const { operations } = b
    expect(() => operations.standing('other', 'a', 0)).toThrow(/no agent `a`/)
    expect(() => operations.ask('other', 'a', { ask: 'todos' }, 0)).toThrow(/no agent/)
    expect(() => operations.remove('other', 'a')).toThrow(/no agent/)
    expect(() => operations.fork('other', 'a', { ids: ['f'], turn: null, nowMs: 0 })).toThrow(
      /no agent/,
    )
    expect(operations.list('other', null, 0, 10)).toEqual([])
  })

  test('forks are independent, and do not multiply the budget', async () => {
    const b = await bench()
    await b.create('a', configOf({ maxTurns: 4 }))
    await b.model('a', await b.prompt('a'), 'one')
    await b.tool('a', 'write_file', { path: 'shared', content: '1' })
    const forks = b.operations.fork('me', 'a', {
      ids: ['f1', 'f2', 'f3'],
      turn: null,
      nowMs: b.now,
    })
    expect(forks.map(({ summary }) => summary.turnCount)).toEqual([1, 1, 1])
    await b.tool('f1', 'write_file', { path: 'own', content: '1' })
    expect(b.ask('f2', { ask: 'files' })).toHaveLength(1)
    expect(b.ask('f1', { ask: 'files' })).toHaveLength(2)
    await b.model('f1', await b.prompt('f1'), 'x')
    await b.model('f2', await b.prompt('f2'), 'x')
    const last = await b.model('f3', await b.prompt('f3'), 'x')
    expect(last.summary.turnCount).toBe(2)
    expect(b.operations.standing(null, 'a', b.now).held).toMatchObject({ reason: 'host_limit' })
    await expect(b.prompt('a')).rejects.toThrow(/stopped/)
    await expect(b.prompt('f1')).rejects.toThrow(/stopped/)
  })

  test('a fork at a turn is the agent as it was then', async () => {
    const b = await bench()
    await b.create('a')
    let step = await b.prompt('a')
    for (const name of ['one', 'two', 'three'])
      step = await b.model('a', step, '', [call('write_file', { path: name, content: name })])
    const [fork] = b.operations.fork('me', 'a', { ids: ['f'], turn: 2, nowMs: b.now })
    expect(fork?.summary).toMatchObject({ turnCount: 2, state: 'idle', fileCount: 2 })
    expect(b.ask<{ path: string }[]>('f', { ask: 'files' }).map(({ path }) => path)).toEqual([
      'one',
      'two',
    ])
    expect(() => b.operations.fork('me', 'a', { ids: ['g'], turn: 9, nowMs: b.now })).toThrow(
      /no turn 9/,
    )
  })
})
