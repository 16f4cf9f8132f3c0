// A reporter that names the tests that passed only when they were tried again, so that such a test is
// seen and repaired. Used by test.ts.

import type { TestCase } from 'vitest/node'

export default class RetryReporter {
  readonly #tests: string[] = []

  onTestCaseResult(test: TestCase): void {
    if (test.diagnostic()?.flaky)
      this.#tests.push(`${test.module.relativeModuleId}: ${test.fullName}`)
  }

  onTestRunEnd(): void {
    for (const test of this.#tests) console.log(`test: passed only at the second attempt: ${test}`)
  }
}
