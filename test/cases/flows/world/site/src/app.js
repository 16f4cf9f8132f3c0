const PORT = 8080
export function start() {
  console.log(`listening on ${PORT}`)
}
