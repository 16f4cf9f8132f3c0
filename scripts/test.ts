// `npm test`: the checks, then every test with coverage thresholds; `npm test -- FILTER` only runs
// the tests whose file name contains FILTER. The last line is `N passed, N failed[, N skipped]`:
// a check step counts as one test, and so does a test file that could not be loaded. A run that
// finds no tests, crashes, or fails for another reason (coverage, unhandled error) is a failure. Before that
// line: the CPU that the run took, children included, and the files that took the most of it; `SLUICE_TEST_CPU=FILE`
// writes that of every file to FILE.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { COMPILING, runChecks } from './check.ts'
import { readCpuSeconds } from './cpu.ts'
import { ROOT, runStep } from './run-step.ts'

type Counts = { passed: number; failed: number; skipped: number }

type VitestReport = {
  numPassedTests: number
  numFailedTests: number
  numPendingTests: number
  numTodoTests: number
  testResults: { name: string; status: string; assertionResults: { status: string }[] }[]
}

const CPU_FILES_PRINTED = 10

// The compiler is a Go program, and a fifth of its work is the garbage of a heap that may as well be larger.
process.env.GOGC ??= '400'

const filters = process.argv.slice(2)
const counts: Counts = { passed: 0, failed: 0, skipped: 0 }

if (filters.length === 0) {
  for (const step of await runChecks()) {
    counts[step.passed ? 'passed' : 'failed'] += 1
    // The test of the packages need not compile them once more.
    if (step.name === COMPILING && step.passed) process.env.SLUICE_TEST_COMPILED = '1'
  }
}
// Coverage slows down what it measures: only the tests that must cover something run under it.
const runs =
  filters.length === 0 ? [['--project=covering', '--coverage'], ['--project=!covering']] : [filters]
const cpuFolder = mkdtempSync(join(tmpdir(), 'sluice-test-'))
const cpuFile = process.env.SLUICE_TEST_CPU ?? join(cpuFolder, 'cpu')
writeFileSync(cpuFile, '')
process.env.SLUICE_TEST_CPU = cpuFile
for (const options of runs) {
  const tests = await runVitest(options)
  counts.passed += tests.passed
  counts.failed += tests.failed
  counts.skipped += tests.skipped
}

printCpu()
const skipped = counts.skipped > 0 ? `, ${counts.skipped} skipped` : ''
console.log(`${counts.passed} passed, ${counts.failed} failed${skipped}`)
process.exitCode = counts.failed === 0 ? 0 : 1

/** CONTRIBUTING.md says how much a whole run may take. */
function printCpu(): void {
  const seconds = readCpuSeconds()
  const lines = readFileSync(cpuFile, 'utf8').split('\n').slice(0, -1)
  rmSync(cpuFolder, { recursive: true, force: true })
  if (Number.isNaN(seconds)) return
  const files = lines.map((line) => {
    const [used = '', path = ''] = line.split(' ')
    return { used: Number(used), path: relative(ROOT, path) }
  })
  const most = files.sort((a, b) => b.used - a.used).slice(0, CPU_FILES_PRINTED)
  for (const { used, path } of most) console.log(`cpu: ${used.toFixed(1).padStart(6)} s  ${path}`)
  console.log(`cpu: ${(seconds / 60).toFixed(1)} min, children included`)
}

async function runVitest(options: readonly string[]): Promise<Counts> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-test-'))
  const reportFile = join(folder, 'report.json')
  const command = ['node_modules/vitest/vitest.mjs', 'run', ...options]
  command.push('--reporter=default', '--reporter=json', `--outputFile.json=${reportFile}`)
  command.push('--reporter=./scripts/report-run.ts')
  try {
    const step = await runStep('tests', command)
    return countTests(readReport(reportFile), step.passed)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function readReport(file: string): VitestReport | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as VitestReport
  } catch {
    return undefined
  }
}

function countTests(report: VitestReport | undefined, exitedWell: boolean): Counts {
  if (report === undefined) {
    console.error('test: vitest left no report: it crashed, see above')
    return { passed: 0, failed: 1, skipped: 0 }
  }
  const unloadable = report.testResults.filter(
    (file) =>
      file.status === 'failed' && !file.assertionResults.some((test) => test.status === 'failed'),
  )
  const passed = report.numPassedTests
  let failed = report.numFailedTests + unloadable.length
  if (failed === 0 && passed === 0) {
    console.error(
      `test: no tests found${filters.length > 0 ? ` for \`${filters.join(' ')}\`` : ''}`,
    )
    failed += 1
  } else if (failed === 0 && !exitedWell) {
    console.error(
      'test: no test failed but the run did (coverage or an unhandled error), see above',
    )
    failed += 1
  }
  return { passed, failed, skipped: report.numPendingTests + report.numTodoTests }
}
