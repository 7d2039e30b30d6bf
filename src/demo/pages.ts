/** The pages and products of the demo shop. */
import { addRankedWeights, createChooser, type Weighted } from './weighted.js'

export const DOMAIN = 'shop.example'
export const ORIGIN = `https://${DOMAIN}`

/** The page of the latest launch. */
export const LAUNCH_PAGE = '/new'

export interface Page extends Weighted {
  readonly path: string
  /** Only on the page of a product. */
  readonly product?: Product
}

export interface Product {
  readonly name: string
  readonly category: string
  /** The same in every currency. */
  readonly price: number
}

const createProduct = (
  name: string,
  category: string,
  price: number,
): { readonly product: Product } => ({
  product: { name, category, price },
})

/** The most popular first. */
export const PRODUCTS = [
  createProduct('trail-runner-2', 'shoes', 129),
  createProduct('rain-shell', 'jackets', 189),
  createProduct('daypack-20', 'packs', 89),
  createProduct('merino-tee', 'base-layers', 59),
  createProduct('two-person-tent', 'tents', 349),
  createProduct('down-jacket', 'jackets', 259),
  createProduct('hiking-boot-mid', 'shoes', 179),
  createProduct('headlamp-400', 'lights', 49),
  createProduct('sleeping-bag-minus-5', 'sleeping', 229),
  createProduct('trekking-poles', 'accessories', 79),
  createProduct('trek-pack-55', 'packs', 199),
  createProduct('gas-stove', 'kitchen', 65),
  createProduct('fleece-hoodie', 'base-layers', 99),
  createProduct('air-mat', 'sleeping', 119),
  createProduct('solo-tent', 'tents', 289),
  createProduct('water-filter', 'kitchen', 39),
  createProduct('camp-lantern', 'lights', 35),
  createProduct('wool-socks-3', 'accessories', 29),
  createProduct('approach-shoe', 'shoes', 139),
  createProduct('titanium-mug', 'kitchen', 25),
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
  { path: LAUNCH_PAGE, weight: 4 },
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
const productPages: readonly Page[] = addRankedWeights(PRODUCTS, 16).map((page) => ({
  ...page,
  path: `/products/${page.product.name}`,
}))
const postPages: readonly Page[] = addRankedWeights(POSTS, 9)

/** Chooses the first page of a visit whose source has no landing page and no deep links. */
export const chooseEntry = createChooser([HOME, ...productPages, ...postPages, ...OTHERS])
/** Chooses the first page of a visit from a source with deep links: mostly articles and products. */
export const chooseLinked = createChooser([...productPages, ...postPages, { ...HOME, weight: 12 }])
/** Chooses the next page of a visit. */
export const chooseNext = createChooser([
  { ...HOME, weight: 9 },
  ...productPages.map((page) => ({ ...page, weight: page.weight * 1.6 })),
  ...postPages.map((page) => ({ ...page, weight: page.weight / 3 })),
  ...OTHERS,
])
