/**
 * The demo shop: one document with several pages. This script shows one of them, and a list of the events it
 * sends. The script runs before the tracking script, so it sees the first event, too.
 */

/** A product, as the server lists it in `data-products`. */
interface Product {
  readonly name: string
  readonly category: string
  /** In euros. */
  readonly price: number
}

interface SentEvent {
  readonly name: string
  readonly url: string
  readonly properties?: object
}

/** Defined by the tracking script. */
declare const tally: (name: string, properties: object) => void

/** @throws Error if no element matches */
function find(selector: string, within: ParentNode = document): HTMLElement {
  const element = within.querySelector<HTMLElement>(selector)
  if (element === null) throw new Error(`no ${selector}`)
  return element
}

function createElement(name: string, text: string): HTMLElement {
  const element = document.createElement(name)
  element.textContent = text
  return element
}

/** Copies the content of a template. `texts` holds the new texts of its elements, by selector. */
function copyTemplate(id: string, texts: Readonly<Record<string, string>>): DocumentFragment {
  const copy = document.importNode((find(id) as HTMLTemplateElement).content, true)
  for (const [selector, text] of Object.entries(texts)) find(selector, copy).textContent = text
  return copy
}

// ---- Products ----

const main = find('main')
const products = JSON.parse(main.dataset['products'] ?? '[]') as readonly Product[]

/** Converts a name to a title: `two-person-tent` to `Two person tent`. */
const toTitle = (name: string): string =>
  name.charAt(0).toUpperCase() + name.slice(1).replace(/-/g, ' ')

const getPath = ({ name }: Product): string => `/demo/products/${name}`

function addCard(product: Product): void {
  const card = copyTemplate('#product-card', {
    small: toTitle(product.category),
    strong: toTitle(product.name),
    span: `€ ${product.price}`,
  })
  find('a', card).setAttribute('href', getPath(product))
  find('.products').append(card)
}

function addPage(product: Product): void {
  const { name, category, price } = product
  const page = copyTemplate('#product-page', {
    h1: toTitle(name),
    '.price span': `€ ${price}`,
    '.price small': toTitle(category),
  })
  find('section', page).dataset['path'] = getPath(product)
  find('button', page).addEventListener('click', () => {
    fillCart([...cart, product])
    tally('add_to_cart', { product: name, category })
  })
  main.append(page)
}

// ---- Navigation ----

function showPage(): void {
  for (const page of document.querySelectorAll<HTMLElement>('section')) {
    page.hidden = page.dataset['path'] !== location.pathname
    if (!page.hidden) document.title = `${find('h1', page).textContent} - Demo shop`
  }
}

function openPage(path: string): void {
  history.pushState({}, '', path)
  showPage()
  scrollTo(0, 0)
  find('section:not([hidden]) h1').focus()
}

/** Opens links to the shop without loading the document again. */
function followLink(event: MouseEvent): void {
  const path = (event.target as Element).closest('a')?.getAttribute('href') ?? ''
  const opensElsewhere = event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey
  if (opensElsewhere || !/^\/demo(\/|$)/.test(path)) return
  event.preventDefault()
  openPage(path)
}

// ---- Sent events ----

const sendBeacon = navigator.sendBeacon.bind(navigator)

/** Stands in for `navigator.sendBeacon`: lists the events of the tracking script, then sends them. */
function listAndSend(url: string | URL, body?: BodyInit | null): boolean {
  const { events } = JSON.parse(body as string) as { events: readonly SentEvent[] }
  for (const { name, url, properties } of events) {
    const item = document.createElement('li')
    item.append(createElement('strong', name), ' ', createElement('span', new URL(url).pathname))
    if (properties) item.append(createElement('code', JSON.stringify(properties, null, 1)))
    find('#sent').prepend(item)
  }
  return sendBeacon(url, body)
}

// ---- Cart ----

let cart: readonly Product[] = []
const buyButton = find('#buy') as HTMLButtonElement

function fillCart(items: readonly Product[]): void {
  cart = items
  find('#count').textContent = String(cart.length)
  const lines = cart.map(({ name, price }) => createElement('li', `${toTitle(name)}, € ${price}`))
  const list = find('#cart')
  list.textContent = ''
  list.append(...lines)
  find('#empty').hidden = cart.length > 0
  buyButton.disabled = cart.length === 0
}

function buy(): void {
  const [first] = cart
  if (first === undefined) return
  const amount = cart.reduce((sum, { price }) => sum + price, 0)
  const items = cart.length
  fillCart([])
  openPage('/demo/thanks')
  const { name: product, category } = first
  tally('purchase', { product, category, items, amount, currency: 'EUR' })
}

// ---- The query to paste into a shell ----

const query = find('#query')
const copyButton = find('#copy')

async function copyQuery(): Promise<void> {
  await navigator.clipboard.writeText(query.textContent)
  copyButton.textContent = 'Copied'
}

products.forEach(addCard)
products.forEach(addPage)
showPage()
addEventListener('popstate', showPage)
document.addEventListener('click', followLink)
navigator.sendBeacon = listAndSend
buyButton.addEventListener('click', buy)
query.textContent = query.textContent.replace(/ORIGIN/g, location.origin)
copyButton.hidden = !('clipboard' in navigator)
copyButton.addEventListener('click', () => void copyQuery())
