// The report of `sluice ci` as JUnit XML, for the test views of CI systems. Pure.

import type { CiCheck, CiReport, CiStep } from './ci-report.ts'

export function writeJunit({ steps }: CiReport): string {
  const suites = steps.map(writeSuite).join('')
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="sluice ci">\n${suites}</testsuites>\n`
}

/** A warning is a line in the output of its suite: JUnit knows no third result. */
function writeSuite({ name, status, summary, checks }: CiStep): string {
  const tests = checks.filter(({ level }) => level !== 'warning')
  const warnings = checks.filter(({ level }) => level === 'warning')
  const failures = tests.filter(({ level }) => level === 'failed').length
  const skipped = status === 'skipped' ? 1 : 0
  const cases = skipped
    ? `    <testcase classname="${name}" name="${name}"><skipped message="${escapeXml(summary)}"/></testcase>\n`
    : tests.map((check) => writeCase(name, check)).join('')
  const lines = warnings.map(({ file, line, message = '' }) => `${file}:${line}: ${message}`)
  const out =
    lines.length === 0 ? '' : `    <system-out>${escapeXml(lines.join('\n'))}</system-out>\n`
  return `  <testsuite name="${name}" tests="${tests.length + skipped}" failures="${failures}" skipped="${skipped}">\n${cases}${out}  </testsuite>\n`
}

function writeCase(step: string, { name, level, file, line, message = '', help }: CiCheck): string {
  const open = `    <testcase classname="${step}" name="${escapeXml(name)}" file="${escapeXml(file)}" line="${line}"`
  if (level !== 'failed') return `${open}/>\n`
  const text = `${file}:${line}: ${message}${help === undefined ? '' : `\nhelp: ${help}`}`
  return `${open}><failure message="${escapeXml(message)}">${escapeXml(text)}</failure></testcase>\n`
}

/** XML 1.0 has no control characters, escaped ones either. */
function escapeXml(text: string): string {
  return text
    .replace(/[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu, '\uFFFD')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
}
