/** The markup of the demo's shop: one document with all its pages, of which the script shows one. */
import { PRODUCTS, type Product } from '../../demo/pages.js'

const SHOWN = PRODUCTS.slice(0, 6).map(({ product }) => product)

const HOME = '/demo'
const CART = '/demo/cart'
const THANKS = '/demo/thanks'

/** Where a product has its page. */
const pathOf = ({ name }: Product): string => `/demo/products/${name}`

/** The addresses of the shop's pages; the document is the same at all of them. */
export const DEMO_PATHS: readonly string[] = [HOME, ...SHOWN.map(pathOf), CART, THANKS]

/** The answer has a row for each page of a visit. ORIGIN stands for where the shop is. */
const CURL = `KEY='the API key that the demo has printed'
curl -s \\
  ORIGIN/v1/analytics/query \\
  -H "Authorization: Bearer $KEY" \\
  -H 'Content-Type: application/json' \\
  -d '{
    "date_range": "today",
    "metrics": ["pageviews", "events"],
    "group_by": ["page:path"],
    "filters": [{
      "type": "page",
      "origin": {
        "operator": "eq",
        "value": "ORIGIN" } }]
  }'`

/** What people read for `two-person-tent`: `Two person tent`. */
const titleOf = (name: string): string =>
  name.charAt(0).toUpperCase() + name.slice(1).replaceAll('-', ' ')

const page = (path: string, title: string, content: string): string => `
      <section data-path="${path}" hidden>
        <h1 tabindex="-1">${title}</h1>${content}
      </section>`

const card = (product: Product): string => `
          <li><a href="${pathOf(product)}">
            <small>${titleOf(product.category)}</small>
            <strong>${titleOf(product.name)}</strong>
            <span>€ ${product.price}</span>
          </a></li>`

const productPage = (product: Product): string =>
  page(
    pathOf(product),
    titleOf(product.name),
    `
        <p class="price">€ ${product.price} <small>${titleOf(product.category)}</small></p>
        <p>The button sends the event <code>add_to_cart</code> with the product and its category.</p>
        <p><button data-product="${product.name}" data-category="${product.category}"
          data-price="${product.price}">Add to cart</button> <a href="${HOME}">All products</a></p>`,
  )

const PAGES = [
  page(
    HOME,
    'Out and about',
    `
        <p>A made-up shop. What you open and press here is sent to the service by its
        <a href="/tally.js">tracking script</a>, as it would be from your own site, and counts for the
        project of the demo.</p>
        <ul class="products">${SHOWN.map(card).join('')}
        </ul>`,
  ),
  ...SHOWN.map(productPage),
  page(
    CART,
    'Cart',
    `
        <ul id="cart"></ul>
        <p id="empty">Nothing in it yet. <a href="${HOME}">All products</a></p>
        <p><button id="buy" disabled>Buy</button></p>`,
  ),
  page(
    THANKS,
    'Thank you',
    `
        <p>Nothing was bought, but the event <code>purchase</code> was sent, with its amount.</p>
        <p><a href="${HOME}">All products</a></p>`,
  ),
]

/** The document. @param token the public one of the project that the visits count for */
export const demoMarkup = (token: string): string => `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <title>Demo shop</title>
    <link rel="icon" type="image/png" href="/docs/favicon-32x32.png">
    <link rel="stylesheet" href="/demo/shop.css">
    <script defer src="/demo/shop.js"></script>
    <script defer src="/tally.js" data-token="${token}"></script>
  </head>
  <body>
    <header>
      <a class="name" href="${HOME}">Demo shop</a>
      <nav><a href="${CART}">Cart (<span id="count">0</span>)</a> <a href="/docs">API</a></nav>
    </header>
    <main>
      <noscript><p>This page shows what a script sends: please allow JavaScript.</p></noscript>${PAGES.join('')}
    </main>
    <aside>
      <h2>Sent by this page</h2>
      <ol id="sent" aria-live="polite"></ol>
      <h2>Ask for it</h2>
      <p>Paste this into a shell, with your key. The visit is in the answer within 5 seconds.</p>
      <pre tabindex="0"><code id="question">${CURL}</code></pre>
      <p><button id="copy">Copy</button></p>
    </aside>
  </body>
</html>
`
