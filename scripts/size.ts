// `npm run check`: prints the code of each module beside its budget.

import { measureModules } from '../test/support/code-lines.ts'

const sizes = measureModules().sort((one, other) => other.lines - one.lines)
for (const { module, lines, budget = 0 } of sizes)
  console.log(`${String(lines).padStart(7)} of ${String(budget).padStart(7)}  ${module}`)
console.log(`${sizes.reduce((sum, { lines }) => sum + lines, 0)} lines of code`)
process.exitCode = sizes.some(({ lines, budget = 0 }) => lines > budget) ? 1 : 0
