// The id of a server as people write its name, for titles: people search for the product. Pure.

/** The title of a page about a server or its tool, with the name that people search for. */
export function titleWithProduct(id: string, server: string): string {
  const product = productName(server)
  return product.toLowerCase() === server.toLowerCase() ? id : `${id} (${product})`
}

/** The id of a server as people write its name: `claude-flow` is Claude Flow. */
export function productName(server: string): string {
  const words = server.split(/[-_.@/]+/).filter((word) => /^[a-z]/i.test(word))
  return words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join(' ') || server
}
