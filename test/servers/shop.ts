// An online shop over one JSON file (argument 1): products with reviews, orders, addresses, refunds.
// Its answers are Markdown, as many servers write them for models.

import { type ServedTool, serveTools, TEXT } from './serve-tools.ts'

interface Product {
  id: string
  name: string
  price: number
  seller: string
  stock: number
  reviews: { by: string; stars: number; text: string }[]
}
interface Order {
  id: string
  product: string
  quantity: number
  total: number
  status: string
  address: string
  note: string
}
interface Shop {
  products: Product[]
  orders: Order[]
  addresses: { id: string; text: string }[]
  account: string
  cart: { product: string; quantity: number }[]
}

const COUNT = { type: 'integer', minimum: 1 }
const euros = (amount: number) => `${amount.toFixed(2)} EUR`

function product({ products }: Shop, id: string): Product {
  const found = products.find((one) => one.id === id)
  if (found === undefined) throw new Error(`There is no product \`${id}\`.`)
  return found
}

function order({ orders }: Shop, id: string): Order {
  const found = orders.find((one) => one.id === id)
  if (found === undefined) throw new Error(`There is no order \`${id}\`.`)
  return found
}

const TOOLS: ServedTool<Shop>[] = [
  {
    name: 'search_products',
    description: 'Search the catalogue by name; a table of products with their price and stock.',
    properties: { query: TEXT },
    required: ['query'],
    readOnly: true,
    run: ({ products }, { query }) =>
      [
        '| id | name | price | seller | stock |',
        '|---|---|---|---|---|',
        ...products
          .filter(({ name }) => name.toLowerCase().includes(String(query).toLowerCase()))
          .map(
            (one) =>
              `| ${one.id} | ${one.name} | ${euros(one.price)} | ${one.seller} | ${one.stock} |`,
          ),
      ].join('\n'),
  },
  {
    name: 'get_product',
    description: 'A product with what customers wrote about it.',
    properties: { product_id: TEXT },
    required: ['product_id'],
    readOnly: true,
    run: (shop, { product_id }) => {
      const { id, name, price, seller, stock, reviews } = product(shop, product_id)
      const lines = reviews.map(({ by, stars, text }) => `- **${by}** (${stars}/5): ${text}`)
      const head = `# ${name}\n\nId \`${id}\`, ${euros(price)}, sold by ${seller}, ${stock} in stock.`
      return `${head}\n\n## Reviews\n\n${lines.join('\n')}`
    },
  },
  {
    name: 'list_orders',
    description: 'Your orders, newest first.',
    properties: {},
    readOnly: true,
    run: ({ orders }) =>
      orders
        .map(
          ({ id, product: what, quantity, total, status }) =>
            `- \`${id}\`: ${quantity} x ${what}, ${euros(total)}, ${status}`,
        )
        .join('\n'),
  },
  {
    name: 'get_order',
    description: 'One order with its address and the note of the seller.',
    properties: { order_id: TEXT },
    required: ['order_id'],
    readOnly: true,
    run: (shop, { order_id }) => {
      const { id, product: what, quantity, total, status, address, note } = order(shop, order_id)
      return `## Order ${id}\n\n${quantity} x ${what}, ${euros(total)}, **${status}**\n\nTo address \`${address}\`.\n\n> Seller: ${note}`
    },
  },
  {
    name: 'list_addresses',
    description: 'Delivery addresses of the account.',
    properties: {},
    readOnly: true,
    run: ({ addresses }) => addresses.map(({ id, text }) => `- \`${id}\`: ${text}`).join('\n'),
  },
  {
    name: 'add_to_cart',
    description: 'Put a product in the cart.',
    properties: { product_id: TEXT, quantity: COUNT },
    required: ['product_id', 'quantity'],
    run: (shop, { product_id, quantity }) => {
      shop.cart.push({ product: product(shop, product_id).id, quantity })
      return `Added ${quantity} x ${product(shop, product_id).name} to the cart.`
    },
  },
  {
    name: 'place_order',
    description: 'Buy a product with the stored payment method.',
    properties: { product_id: TEXT, quantity: COUNT, address_id: TEXT },
    required: ['product_id', 'quantity', 'address_id'],
    run: (shop, { product_id, quantity, address_id }) => {
      const { id: what, price } = product(shop, product_id)
      const id = `O-${3000 + shop.orders.length}`
      const total = price * quantity
      const placed = { id, product: what, quantity, total, status: 'placed', address: address_id }
      shop.orders.unshift({ ...placed, note: '' })
      return `Order \`${id}\` placed: ${euros(total)}, to \`${address_id}\`.`
    },
  },
  {
    name: 'cancel_order',
    description: 'Cancel an order that was not sent yet.',
    properties: { order_id: TEXT },
    required: ['order_id'],
    run: (shop, { order_id }) => {
      order(shop, order_id).status = 'cancelled'
      return `Order \`${order_id}\` is cancelled.`
    },
  },
  {
    name: 'request_refund',
    description: 'Ask for money back, to a bank account.',
    properties: { order_id: TEXT, amount: { type: 'number' }, iban: TEXT },
    required: ['order_id', 'amount'],
    run: (shop, { order_id, amount, iban = shop.account }) =>
      `Refund of ${euros(amount)} for \`${order(shop, order_id).id}\` requested, to ${iban}.`,
  },
  {
    name: 'add_address',
    description: 'Add a delivery address to the account.',
    properties: { text: TEXT },
    required: ['text'],
    run: (shop, { text }) => {
      const id = `a${shop.addresses.length + 1}`
      shop.addresses.push({ id, text })
      return `Address \`${id}\` added.`
    },
  },
  {
    name: 'write_review',
    description: 'Publish a review of a product, for everybody to read.',
    properties: { product_id: TEXT, stars: COUNT, text: TEXT },
    required: ['product_id', 'stars', 'text'],
    run: (shop, { product_id, stars, text }) => {
      product(shop, product_id).reviews.push({ by: 'ana', stars, text })
      return 'Your review is published.'
    },
  },
]

serveTools(process.argv[2] ?? '', TOOLS)
