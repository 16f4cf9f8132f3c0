// A reporter that names the tests that passed only when they were tried again, so that such a test is
// seen and repaired, and sends the result of the run to test.ts, in case that Vitest does not end after it.

import type { TestCase, TestModule, TestRunEndReason, Vitest } from 'vitest/node'

export default class RunReporter {
  readonly #retried: string[] = []
  #hasThresholds = false

  onInit(vitest: Vitest): void {
    this.#hasThresholds = vitest.config.coverage.enabled
  }

  onTestCaseResult(test: TestCase): void {
    if (!test.diagnostic()?.flaky) return
    const [why] = test.result().errors?.[0]?.message.split('\n') ?? []
    this.#retried.push(`${test.module.relativeModuleId}: ${test.fullName} (before: ${why})`)
  }

  onTestRunEnd(
    _modules: readonly TestModule[],
    errors: readonly unknown[],
    reason: TestRunEndReason,
  ): void {
    for (const test of this.#retried)
      console.log(`test: passed only at the second attempt: ${test}`)
    // Whether coverage suffices is only known at the end.
    process.send?.(reason === 'passed' && errors.length === 0 && !this.#hasThresholds)
  }
}
