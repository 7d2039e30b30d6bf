/** What a row of the inbox says, as SQL: `given` is the tuple of its fields, `url_parts` its URL. */
import { sql, string, type Sql } from '../../../clickhouse/sql.js'

/** A field of the event; the empty string where it is absent. */
export const jsonField = (field: string): Sql => sql`tupleElement(given, ${string(field)})`

/** A URL's scheme, host with port, path, query with its `?`, fragment with its `#`. */
const URL_PARTS = string(
  String.raw`^([A-Za-z][A-Za-z0-9+.-]*)://(?:[^/?#@]*@)?([^/?#@]+)([^?#]*)(\?[^#]*)?(#.*)?$`,
)
export const splitUrl = (url: Sql): Sql =>
  sql`if(${url} = '', [], extractGroups(${url}, ${URL_PARTS}))`

/** The default port of a scheme is no part of an origin. */
const DEFAULT_PORT = string(String.raw`^(http://.*):80$|^(https://.*):443$`)
export const buildOrigin = (parts: Sql): Sql =>
  sql`replaceRegexpOne(lower(concat(${parts}[1], '://', ${parts}[2])), ${DEFAULT_PORT}, '\\1\\2')`

/**
 * A parameter of the URL's query, decoded; the empty string where it is absent. What is not UTF-8 is
 * replaced and NUL is dropped: no filter could ask for either.
 */
export const decodeParameter = (parts: Sql, name: string): Sql =>
  sql`replaceAll(toValidUTF8(decodeURLFormComponent(extractURLParameter(${parts}[4], ${string(name)}))), '\\0', '')`
