// Argument paths as the policy language writes them: `args.order.total`, `args["odd name"]`.
// The inverse of what the parser reads.

export function pathText(path: readonly string[]): string {
  return `args${path.map((name) => (/^[A-Za-z_]\w*$/.test(name) ? `.${name}` : `["${name}"]`)).join('')}`
}
