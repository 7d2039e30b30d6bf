/** Parses the Authorization header of the Bearer scheme. */

/** The credentials of RFC 6750 §2.1. The name of a scheme is case-insensitive (RFC 9110 §11.1). */
const BEARER = /^bearer (?<token>\S+)$/i

/** Returns the token of an `Authorization: Bearer <token>` header; undefined for any other header or none. */
export const parseBearerToken = (header: string | undefined): string | undefined =>
  BEARER.exec(header ?? '')?.groups?.['token']
