/** The script of the demo's shop: it shows one page of the document at a time, and what is sent. */

/** It runs before the tracking script, so that it sees the first event, too. */
export const DEMO_SCRIPT = `const find = (selector) => document.querySelector(selector)
const element = (name, text) => Object.assign(document.createElement(name), { textContent: text })

function show() {
  for (const page of document.querySelectorAll('section')) {
    page.hidden = page.dataset.path !== location.pathname
    if (!page.hidden) document.title = page.querySelector('h1').textContent + ' - Demo shop'
  }
}

function open(path) {
  history.pushState({}, '', path)
  show()
  scrollTo(0, 0)
  find('section:not([hidden]) h1').focus()
}

show()
addEventListener('popstate', show)
document.addEventListener('click', (event) => {
  const path = event.target.closest('a')?.getAttribute('href') ?? ''
  const elsewhere = event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey
  if (elsewhere || !/^\\/demo(\\/|$)/.test(path)) return
  event.preventDefault()
  open(path)
})

// What the tracking script sends is shown as it leaves.
const sendBeacon = navigator.sendBeacon.bind(navigator)
navigator.sendBeacon = (url, body) => {
  for (const { name, url, properties } of JSON.parse(body).events) {
    const item = document.createElement('li')
    item.append(element('strong', name), ' ', element('span', new URL(url).pathname))
    if (properties) item.append(element('code', JSON.stringify(properties, null, 1)))
    find('#sent').prepend(item)
  }
  return sendBeacon(url, body)
}

let cart = []

function fill(products) {
  cart = products
  find('#count').textContent = cart.length
  find('#cart').replaceChildren(...cart.map(({ title, price }) => element('li', title + ', € ' + price)))
  find('#empty').hidden = cart.length > 0
  find('#buy').disabled = cart.length === 0
}

for (const button of document.querySelectorAll('[data-product]')) {
  button.addEventListener('click', () => {
    const { product, category, price } = button.dataset
    const title = button.closest('section').querySelector('h1').textContent
    fill([...cart, { product, category, title, price: Number(price) }])
    tally('add_to_cart', { product, category })
  })
}

find('#buy').addEventListener('click', () => {
  const [{ product, category }] = cart
  const amount = cart.reduce((sum, { price }) => sum + price, 0)
  const items = cart.length
  fill([])
  open('/demo/thanks')
  tally('purchase', { product, category, items, amount, currency: 'EUR' })
})

const question = find('#question')
question.textContent = question.textContent.replaceAll('ORIGIN', location.origin)
find('#copy').hidden = navigator.clipboard === undefined
find('#copy').addEventListener('click', async () => {
  await navigator.clipboard.writeText(question.textContent)
  find('#copy').textContent = 'Copied'
})
`
