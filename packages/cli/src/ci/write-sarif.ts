// Checks of `sluice ci` and `sluice scan` as SARIF 2.1.0, for code scanning: each problem at its place in a file. Pure.

import type { CiCheck } from './ci-report.ts'

export function writeSarif(checks: readonly CiCheck[], version: string): string {
  const problems = checks.filter(({ level }) => level !== 'passed')
  const rules = [...new Set(problems.map(({ rule }) => rule))].sort()
  const log = {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: { driver: { name: 'sluice', version, rules: rules.map((id) => ({ id })) } },
        results: problems.map(toResult),
      },
    ],
  }
  return `${JSON.stringify(log, null, 2)}\n`
}

function toResult({ rule, level, name, message = name, help, file, line, column }: CiCheck) {
  const text = help === undefined ? message : `${message}. Help: ${help}`
  return {
    ruleId: rule,
    level: level === 'failed' ? 'error' : 'warning',
    message: { text },
    locations: [
      {
        physicalLocation: {
          artifactLocation: { uri: toUri(file) },
          region: { startLine: line, ...(column === undefined ? {} : { startColumn: column }) },
        },
      },
    ],
  }
}

/** Relative to the repository, with forward slashes and escapes as URIs have them. */
function toUri(file: string): string {
  return file.replaceAll('\\', '/').split('/').map(encodeURIComponent).join('/')
}
