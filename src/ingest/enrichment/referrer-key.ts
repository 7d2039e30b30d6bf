/** What of a referrer decides its description, so that each is looked up once: the key of a look-up. */
import { sql, strings, type Sql } from '../../clickhouse/sql.js'
import { REFERRER_PAGES } from './referrers.js'

/**
 * The key of a referrer: the listed page it is on, or else its host. The host is given in lower case, the path
 * with its `/`; there are as many keys as hosts, and one more for each listed page.
 */
export const referrerKeyOf = (host: Sql, path: Sql): Sql => {
  const pages = strings(REFERRER_PAGES)
  const place = sql`concat(replaceRegexpOne(${host}, '^www[.]', ''), ${path}, '/')`
  const page = sql`arrayFirst(page -> startsWith(${place}, concat(page, '/')), ${pages})`
  return sql`if(${page} != '', ${page}, ${host})`
}
