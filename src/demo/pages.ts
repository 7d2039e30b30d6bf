/** The pages of the shop of the demo. */
import { chooser, ranked, type Weighted } from './weighted.js'

export const DOMAIN = 'shop.example'
export const ORIGIN = `https://${DOMAIN}`

export interface Page extends Weighted {
  readonly path: string
  /** Of a product's page alone. */
  readonly product?: Product
}

export interface Product {
  readonly name: string
  readonly category: string
  /** In euros. */
  readonly price: number
}

const product = (name: string, category: string, price: number): { readonly product: Product } => ({
  product: { name, category, price },
})

/** By falling popularity. */
export const PRODUCTS = [
  product('trail-runner-2', 'shoes', 129),
  product('rain-shell', 'jackets', 189),
  product('daypack-20', 'packs', 89),
  product('merino-tee', 'base-layers', 59),
  product('two-person-tent', 'tents', 349),
  product('down-jacket', 'jackets', 259),
  product('hiking-boot-mid', 'shoes', 179),
  product('headlamp-400', 'lights', 49),
  product('sleeping-bag-minus-5', 'sleeping', 229),
  product('trekking-poles', 'accessories', 79),
  product('trek-pack-55', 'packs', 199),
  product('gas-stove', 'kitchen', 65),
  product('fleece-hoodie', 'base-layers', 99),
  product('air-mat', 'sleeping', 119),
  product('solo-tent', 'tents', 289),
  product('water-filter', 'kitchen', 39),
  product('camp-lantern', 'lights', 35),
  product('wool-socks-3', 'accessories', 29),
  product('approach-shoe', 'shoes', 139),
  product('titanium-mug', 'kitchen', 25),
]

const POSTS = [
  'how-to-pack-a-backpack',
  'ten-hut-to-hut-hikes',
  'choosing-a-tent',
  'layering-explained',
  'first-aid-on-the-trail',
  'repair-instead-of-replace',
  'sleeping-bag-temperatures',
  'winter-camping-basics',
  'washing-down',
  'trail-running-for-beginners',
  'the-best-coffee-outdoors',
  'hiking-with-children',
].map((slug) => ({ path: `/blog/${slug}` }))

const OTHERS: readonly Page[] = [
  { path: '/products', weight: 14 },
  { path: '/sale', weight: 9 },
  { path: '/collections/hiking', weight: 6 },
  { path: '/collections/camping', weight: 5 },
  { path: '/collections/running', weight: 3.5 },
  { path: '/collections/winter', weight: 2.5 },
  { path: '/membership', weight: 4 },
  { path: '/blog', weight: 3.5 },
  { path: '/stores', weight: 2 },
  { path: '/about', weight: 1.2 },
  { path: '/help/shipping', weight: 2 },
  { path: '/help/returns#refunds', weight: 1.2 },
  { path: '/help/size-guide', weight: 1.6 },
]

const HOME: Page = { path: '/', weight: 36 }
const productPages: readonly Page[] = ranked(PRODUCTS, 16).map((page) => ({
  ...page,
  path: `/products/${page.product.name}`,
}))
const postPages: readonly Page[] = ranked(POSTS, 9)

/** The first page of a visit that no link leads to another one. */
export const chooseEntry = chooser([HOME, ...productPages, ...postPages, ...OTHERS])
/** Where search engines, friends and assistants send people: articles and products. */
export const chooseLinked = chooser([...productPages, ...postPages, { ...HOME, weight: 12 }])
/** The next page of a visit. */
export const chooseNext = chooser([
  { ...HOME, weight: 9 },
  ...productPages.map((page) => ({ ...page, weight: page.weight * 1.6 })),
  ...postPages.map((page) => ({ ...page, weight: page.weight / 3 })),
  ...OTHERS,
])
