/** SQL that reads the fields of an event from a row of the inbox: `given` is the tuple of its fields, `url_parts` its URL. */
import { sql, string, type Sql } from '../../../clickhouse/sql.js'

/** Reads a field of the event; an empty string when it is absent. */
export const readField = (field: string): Sql => sql`tupleElement(given, ${string(field)})`

/** A URL's scheme, host with port, path, query with its `?`, fragment with its `#` (RFC 3986 §3). */
const URL_PARTS = string(
  String.raw`^([A-Za-z][A-Za-z0-9+.-]*)://(?:[^/?#@]*@)?([^/?#@]+)([^?#]*)(\?[^#]*)?(#.*)?$`,
)

/** Splits a URL into an array of its parts; an empty array for anything but an absolute URL. */
export const splitUrl = (url: Sql): Sql =>
  sql`if(${url} = '', [], extractGroups(${url}, ${URL_PARTS}))`

const DEFAULT_PORT = string(String.raw`^(http://.*):80$|^(https://.*):443$`)

/** Builds the origin of a URL, without the default port of its scheme (RFC 6454 §6.2). */
export const buildOrigin = (parts: Sql): Sql =>
  sql`replaceRegexpOne(lower(concat(${parts}[1], '://', ${parts}[2])), ${DEFAULT_PORT}, '\\1\\2')`

/**
 * Decodes a parameter of the URL's query; an empty string when it is absent. Invalid UTF-8 is replaced and NUL
 * is dropped, because no filter could ask for either.
 */
export const decodeParameter = (parts: Sql, name: string): Sql =>
  sql`replaceAll(toValidUTF8(decodeURLFormComponent(extractURLParameter(${parts}[4], ${string(name)}))), '\\0', '')`
